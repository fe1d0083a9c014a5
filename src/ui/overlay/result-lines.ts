import { grouped } from '../../core/rung.js';
import type { ToolResult } from '../../core/tool-result.js';
import { cutLine, padStart, span } from './line.js';
import type { Line } from './line.js';

const TOKEN_COLUMNS = 9;

/** What the largest tool results put into the window, by an estimate of their text. */
export const resultLines = (
  results: readonly ToolResult[] | undefined,
  most: number,
  columns: number,
): readonly Line[] => {
  if (!results) return [[span('  Not reported by the agent.', 'quiet')]];
  if (results.length === 0) return [[span('  None yet.', 'quiet')]];
  return results
    .slice(0, most)
    .map(({ tokens, name, label }) =>
      cutLine(
        [
          span(`  ${padStart(`~${grouped(Math.round(tokens))}`, TOKEN_COLUMNS)}  `),
          span(name, 'strong'),
          span(label === '' ? '' : ` ${label}`),
        ],
        columns,
      ),
    );
};
