/**
 * Reads the rows of a CSV text by the names in its first row (RFC 4180: quoted fields may hold commas, doubled quotes
 * and line ends). The first of two equal names counts.
 */
export function readCsv(text: string): Record<string, string>[] {
  const [head = [], ...rows] = cellsOf(text.replace(/^\uFEFF/, ''))
  return rows.map((row) => {
    const record: Record<string, string> = {}
    for (const [column, name] of head.entries()) record[name] ??= row[column] ?? ''
    return record
  })
}

function cellsOf(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  const endRow = () => {
    row.push(cell)
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
    cell = ''
  }
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (quoted) {
      if (char !== '"') cell += char
      else if (text[i + 1] === '"') cell += text[++i]
      else quoted = false
    } else if (char === '"' && cell === '') quoted = true
    else if (char === ',') {
      row.push(cell)
      cell = ''
    } else if (char === '\n') endRow()
    else if (char !== '\r') cell += char
  }
  if (cell !== '' || row.length > 0) endRow()
  return rows
}
