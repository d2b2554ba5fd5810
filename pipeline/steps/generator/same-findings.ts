/**
 * True if two texts list the same findings. Their order, their numbers and those of the lines of code are not compared,
 * because the engine checks blocks side by side, and a change elsewhere in a file moves the lines below it.
 */
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
