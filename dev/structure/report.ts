import { compareWithAims, percent } from './aims.ts'
import type { Violation } from './borders.ts'
import type { Cycle, Tie } from './graph.ts'
import type { Part } from './measure.ts'
import type { Survey } from './survey.ts'

/** Imports that are listed for a cycle when not everything was asked for. */
const SHOWN_TIES = 5

/** The findings that fail the command, as sentences; empty when the house is in order. */
export function findFailures({ graph, borders }: Survey): string[] {
  const cycles = [graph.roomCycles, graph.fileCycles].flatMap(({ values, types }) => [...values, ...types])
  return [
    ...cycles.map(({ members }) => `A cycle of ${members.join(', ')}.`),
    ...(borders?.violations ?? []).map(describeViolation),
    ...(borders?.errors ?? []),
  ]
}

/** The survey for a terminal. `all` lists what is over the aims too. */
export function describe(survey: Survey, all: boolean): string[] {
  const { graph, borders } = survey
  const figures = compareWithAims(survey)
  const missed = figures.filter(({ met }) => !met).length
  const upward = borders?.violations.filter(({ reason }) => reason === 'upward') ?? []
  return [
    ...columns([
      ['', 'rooms', 'edges', 'files', 'median', 'p95', '20 or fewer', 'one importer'],
      ...survey.parts.map(describePart),
    ]),
    '',
    ...columns([
      ['cycles', 'by values', 'by types too'],
      ['of rooms', `${graph.roomCycles.values.length}`, `${graph.roomCycles.types.length}`],
      ['of files', `${graph.fileCycles.values.length}`, `${graph.fileCycles.types.length}`],
    ]),
    ...describeCycles('Rooms that import one another by values', graph.roomCycles.values, all, upward),
    ...describeCycles('Rooms that import one another once types count', graph.roomCycles.types, all, upward),
    ...describeCycles('Files that import one another by values', graph.fileCycles.values, all, []),
    ...describeCycles('Files that import one another once types count', graph.fileCycles.types, all, []),
    '',
    ...columns(
      [
        ['src, pipeline and sidecars', '', 'aim'],
        ...figures.map(({ name, value, aim, met }) => [name, value, aim === null ? '' : aim, met ? '' : 'missed']),
      ],
      'left',
    ),
    ...(missed > 0 && !all ? ['', `${missed} aims are missed; --all lists what is over them.`] : []),
    ...(all ? describeSizes(survey) : []),
    ...describeBorders(survey, all),
  ]
}

const describePart = ({ name, rooms, edges, files, median, p95, small, oneImporter }: Part): string[] => [
  name,
  ...[rooms, edges, files, median, p95].map(String),
  percent(small, files),
  percent(oneImporter, files),
]

function describeCycles(title: string, cycles: readonly Cycle[], all: boolean, upward: readonly Violation[]): string[] {
  const isUpward = (tie: Tie) =>
    upward.some(({ file, line, target }) => tie.file === file && tie.line === line && tie.target === target)
  return cycles.flatMap(({ members, ties }) => {
    const ordered = [...ties.filter(isUpward), ...ties.filter((tie) => !isUpward(tie))]
    const shown = all ? ordered : ordered.slice(0, SHOWN_TIES)
    const rest = ordered.length - shown.length
    return [
      '',
      `${title}: ${members.join(', ')}`,
      ...shown.map((tie) => `  ${tie.file}:${tie.line} imports ${tie.target}${tie.kind === 'type' ? ' (types)' : ''}`),
      ...(rest > 0 ? [`  and ${rest} more; --all lists them`] : []),
    ]
  })
}

function describeSizes({ sizes }: Survey): string[] {
  return [
    ...section(
      'Files of few lines',
      sizes.smallFiles.map(({ file, lines }) => `${file}: ${lines}`),
    ),
    ...section(
      'Long files',
      sizes.largeFiles.map(({ file, lines }) => `${file}: ${lines}`),
    ),
    ...section(
      'Long functions',
      sizes.largeFunctions.map((size) => `${size.file}:${size.line} ${size.name}: ${size.lines}`),
    ),
    ...section(
      'Full folders',
      sizes.largeFolders.map(({ folder, files }) => `${folder}: ${files}`),
    ),
    ...section(
      'Long lines',
      sizes.longLines.map(({ file, line, columns: count }) => `${file}:${line}: ${count}`),
    ),
    ...section(
      'Files with one importer',
      sizes.oneImporter.map(({ file, importer }) => `${file}, by ${importer}`),
    ),
  ]
}

function describeBorders({ borders }: Survey, all: boolean): string[] {
  if (!borders) return []
  const { violations, errors, unused } = borders
  const upward = violations.filter(({ reason }) => reason === 'upward').length
  return [
    '',
    `borders: ${violations.length} imports that the table forbids, ${upward} of them upward`,
    ...violations.map((violation) => `  ${describeViolation(violation)}`),
    ...errors.map((error) => `  ${error}`),
    ...(all
      ? section(
          'Allowed by name and not used',
          unused.map(({ from, to }) => `${from} may import ${to}`),
        )
      : []),
  ]
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]

function describeViolation({ file, line, target, from, to, reason }: Violation): string {
  const what = `${file}:${line} imports ${target}`
  if (reason === 'node') return `${what}: ${from} may not import node: modules.`
  if (reason === 'upward') return `${what}: ${to} stands after ${from} in the table.`
  return `${what}: the row of ${from} does not name it.`
}

/** Aligned cells, two blanks apart; the first column to the left. */
function columns(rows: readonly string[][], align: 'left' | 'right' = 'right'): string[] {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, index) => Math.max(widest[index] ?? 0, cell.length)),
    [],
  )
  return rows.map((row) =>
    row
      .map((cell, index) =>
        align === 'left' || index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
}
