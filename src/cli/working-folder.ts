export const workingFolder = (): string => {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '/'; // the folder was removed under us
  }
};
