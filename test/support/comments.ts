import ts from 'typescript';

/** A comment of a source file. */
export interface Comment {
  readonly line: number;
  /** without its marks and line breaks; neighbouring `//` are one */
  readonly text: string;
  /** begins with two stars */
  readonly isDoc: boolean;
  /** a docstring that stands over nothing: over another one, an import, a blank line or the end */
  readonly isOrphaned: boolean;
}

interface Place {
  readonly pos: number;
  readonly end: number;
}

const tokensOf = (tree: ts.SourceFile): readonly ts.Node[] => {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(tree).filter(({ kind }) => kind !== ts.SyntaxKind.JSDoc);
    if (children.length === 0) found.push(node);
    else children.forEach(visit);
  };
  visit(tree);
  return found;
};

/** Whether what follows a docstring is no place for one. */
const standsOverNothing = (text: string, { end }: Place): boolean =>
  /^(?:[ \t]*\n[ \t]*\n|\s*(?:\/\*\*|import\b|[})\]]|$(?![^])))/.test(text.slice(end));

/** All comments of a source, in their order. */
export const commentsOf = (path: string, text: string): readonly Comment[] => {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const places = new Map<number, Place>();
  for (const token of tokensOf(tree)) {
    if (token.kind === ts.SyntaxKind.JsxText) continue;
    const before = ts.getLeadingCommentRanges(text, token.getFullStart()) ?? [];
    const after = ts.getTrailingCommentRanges(text, token.getEnd()) ?? [];
    for (const range of [...before, ...after]) places.set(range.pos, range);
  }
  const merged: Place[] = [];
  for (const place of [...places.values()].toSorted((left, right) => left.pos - right.pos)) {
    const last = merged.at(-1);
    const isNext = last && /^[ \t]*\r?\n[ \t]*$/.test(text.slice(last.end, place.pos));
    if (isNext && text.startsWith('//', last.pos) && text.startsWith('//', place.pos))
      merged[merged.length - 1] = { pos: last.pos, end: place.end };
    else merged.push(place);
  }
  return merged.map((place) => {
    const raw = text.slice(place.pos, place.end);
    const isDoc = /^\/\*\*(?!\/)/.test(raw);
    return {
      line: tree.getLineAndCharacterOfPosition(place.pos).line + 1,
      text: raw
        .replace(/^\/\*+|\*\/$|^\/\//g, '')
        .replace(/\s*\n\s*(?:\/\/|\*)?/g, '')
        .trim(),
      isDoc,
      isOrphaned: isDoc && standsOverNothing(text, place),
    };
  });
};
