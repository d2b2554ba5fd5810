/** True if two texts list the same findings, in any order and at any line, since a change moves lines. */
export const areSameFindings = (a: string, b: string): boolean => formOf(a) === formOf(b)

const formOf = (findings: string): string =>
  findings
    .split('\n')
    .map((line) =>
      line
        .replace(/^[>\s]*\d+[.:]\s/, '')
        .replaceAll(/(\.\w+):\d+\b/g, '$1')
        .replaceAll(/\bline \d+\b/g, 'line')
        .trim(),
    )
    .filter((line) => line !== '')
    .sort()
    .join('\n')
