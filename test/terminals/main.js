import { checks } from './checks.js';
import { multiplexers } from './multiplexers.js';
import { waylandTerminals } from './wayland-terminals.js';
import { xTerminals } from './x-terminals.js';

const terminals = { ...xTerminals, ...waylandTerminals, ...multiplexers };
const args = process.argv.slice(2);
const isVerbose = args.includes('-v');
const only = args.find((each) => each.startsWith('--only='))?.slice(7);
const wanted = args.filter((each) => each in terminals);
const names = wanted.length > 0 ? wanted : Object.keys(terminals);
const chosen = checks.filter(([title]) => only === undefined || title.includes(only));

const attempt = async (check, open, name) => {
  try {
    return await check(open, name);
  } catch (error) {
    return [`could not be checked: ${isVerbose ? error.stack : error.message}`];
  }
};

const results = new Map();
for (const name of names) {
  for (const [index, [title, check]] of chosen.entries()) {
    const problems = await attempt(check, terminals[name], `${name}-${index}`);
    results.set(`${name} ${title}`, problems);
    console.error(`${name}: ${title}: ${problems.length === 0 ? 'ok' : `\n    ${problems.join('\n    ')}`}`);
  }
}

const width = Math.max(...chosen.map(([title]) => title.length));
const cell = (problems) => (problems.length === 0 ? 'ok' : `${problems.length} wrong`).padEnd(11);
console.log(`\n${' '.repeat(width)}  ${names.map((name) => name.padEnd(11)).join('')}`);
for (const [title] of chosen) {
  console.log(
    `${title.padEnd(width)}  ${names.map((name) => cell(results.get(`${name} ${title}`))).join('')}`,
  );
}
process.exit([...results.values()].some((problems) => problems.length > 0) ? 1 : 0);
