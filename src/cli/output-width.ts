/** Columns to write into: of the terminal, of COLUMNS where the output goes elsewhere, else 80. */
export const widthOfOutput = (): number => {
  const given = Number(process.env['COLUMNS']);
  const wanted = process.stdout.columns ?? (given > 0 ? given : 80);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : 80;
};
