import { mkdir, writeFile } from 'node:fs/promises'
import { arch, cpus, totalmem } from 'node:os'

/** One figure. It should be below `aim` (above it, with `at_least`), but a missed aim does not make a run fail. */
export interface Figure {
  name: string
  value: number
  unit: string
  aim?: number
  at_least?: boolean
}
export interface Table {
  title: string
  columns: string[]
  rows: (string | number)[][]
}
export interface Section {
  title: string
  figures: Figure[]
  tables?: Table[]
  notes?: string[]
}

/** Returns the value below which `share` (0 to 1) of the samples are, by nearest rank; NaN without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Makes the figures of the median and of the 99th percentile of samples in ms. */
export const quantiles = (name: string, samples: readonly number[], aims: { p50?: number; p99?: number } = {}) => [
  { name: `${name}, p50`, value: percentile(samples, 0.5), unit: 'ms', aim: aims.p50 },
  { name: `${name}, p99`, value: percentile(samples, 0.99), unit: 'ms', aim: aims.p99 },
]

/** Returns the time in ms that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Rounds a figure: three significant digits below 100, no decimals above. */
const roundFigure = (value: number): number =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))

export function formatSection(section: Section): string {
  const rows = section.figures.map(({ name, value, unit, aim, at_least }) => {
    const figure = [name, `${roundFigure(value)} ${unit}`]
    if (aim === undefined) return figure
    const isMet = at_least ? value >= aim : value <= aim
    return [...figure, `${at_least ? '>=' : '<='} ${aim} ${unit}`, isMet ? 'met' : 'missed']
  })
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const lines = rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  )
  const tables = (section.tables ?? []).flatMap(formatTable)
  return [section.title, ...lines, ...tables, ...(section.notes ?? []).map((note) => `  ${note}`), ''].join('\n')
}

/** Renders the rows under their columns: the first column to the left, and texts as well, numbers to the right. */
function formatTable({ title, columns, rows }: Table): string[] {
  const cells = [columns, ...rows.map((row) => row.map(String))]
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)))
  const isText = columns.map((_, at) => cells.slice(1).every((row) => !/^[-\d]/.test(row[at] ?? '') || at === 0))
  const lines = cells.map((row) =>
    row.map((cell, at) => (isText[at] ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
  )
  return ['', `  ${title}`, ...lines.map((line) => `  ${line}`.trimEnd()), '']
}

/** Writes `bench/results/<time>.json` and `latest.json`. Returns the path of the former. */
export async function writeResults(sections: readonly Section[], folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const memory_gib = Math.round(totalmem() / 2 ** 30)
  const machine = { cores: cpus().length, memory_gib, arch: arch(), node: process.version }
  const document = { measured_at: new Date().toISOString(), machine, sections }
  const path = `${folder}/${document.measured_at.replaceAll(':', '-')}.json`
  const text = `${JSON.stringify(document, null, 2)}\n`
  await writeFile(path, text)
  await writeFile(`${folder}/latest.json`, text)
  return path
}
