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
export interface Section {
  title: string
  figures: Figure[]
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
  return [section.title, ...lines, ...(section.notes ?? []).map((note) => `  ${note}`), ''].join('\n')
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
