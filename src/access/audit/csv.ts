import type { AuditRecord } from './list.ts'

const COLUMNS = ['id', 'at', 'action', 'actor', 'user_id', 'session_id', 'address', 'detail', 'subject'] as const

/** Beginnings of cells that a spreadsheet interprets as formulas. */
const FORMULA = /^[=+\-@\t\r]/

/**
 * Writes batches of entries as CSV (RFC 4180): a header line, then one line per entry, with `detail` as JSON. Cells
 * that a spreadsheet would interpret as formulas get a leading apostrophe. Batches are read on demand. If one fails,
 * the stream breaks off, so that a part is never mistaken for the whole.
 */
export function toCsv(batches: AsyncGenerator<AuditRecord[]>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(encoder.encode(toLine(COLUMNS))),
    pull: async (controller) => {
      const { done, value } = await batches.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value.map(toRow).join('')))
    },
    cancel: async () => void (await batches.return(undefined)),
  })
}

const toRow = (record: AuditRecord): string =>
  toLine(
    COLUMNS.map((name) => {
      const value = record[name]
      if (value === null) return ''
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    }),
  )

const toLine = (cells: readonly string[]): string => `${cells.map(toCell).join(',')}\r\n`

function toCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
