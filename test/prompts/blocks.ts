/** Reads blocks from an opening line to the closing line with the same id. */
export function readBlocks(text: string): { label: string; content: string }[] {
  return [...text.matchAll(/^<<<DATA (.+) ([0-9a-f]{16})\n([\s\S]*?)\n\2 DATA>>>$/gm)].map(
    ([, label = '', , content = '']) => ({ label, content }),
  )
}
