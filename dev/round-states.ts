import { readFile, writeFile } from 'node:fs/promises'
import { ROUND_STATES, type TransitionRow } from '../src/rounds/state-machine.ts'
import { TRANSITIONS } from '../src/rounds/transitions.ts'

export const PAGE = new URL('../docs/rounds.md', import.meta.url)
const BEGIN = '<!-- states: written by npx node dev/round-states.ts -->'
const END = '<!-- end of states -->'

/** Writes the states and transitions of rounds, as in the code, between the markers of the page. */
export function replaceStates(page: string): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`docs/rounds.md needs the lines '${BEGIN}' and '${END}'.`)
  const parts = [writeStates(), writeDiagram(), writeTransitions()]
  return `${page.slice(0, begin + BEGIN.length)}\n\n${parts.join('\n\n')}\n\n${page.slice(end)}`
}

const rows: [name: string, row: TransitionRow][] = Object.entries(TRANSITIONS).map(([name, { row }]) => [name, row])

function writeStates(): string {
  const lines = Object.entries(ROUND_STATES).map(([state, meaning]) => `| \`${state}\` | ${meaning} |`)
  return ['| State | Meaning |', '|---|---|', ...lines].join('\n')
}

/** Writes the changes of state as a diagram. Transitions that keep the state are in the table only. */
function writeDiagram(): string {
  const edges = new Map<string, string[]>()
  for (const [name, { moves }] of rows)
    for (const [from, to] of pairs(moves)) {
      const edge = `${from === 'none' ? '[*]' : from} --> ${to === 'none' ? '[*]' : to}`
      if (from !== to) edges.set(edge, [...(edges.get(edge) ?? []), name])
    }
  const lines = [...edges].map(([edge, names]) => `  ${edge} : ${names.join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n')
}

function writeTransitions(): string {
  const lines = rows.map(([name, { moves, fence, status, lock, guard, caller }]) => {
    const cells = [`\`${name}\``, writeMoves(moves), fence, status, lock, guard, caller]
    return `| ${cells.map((cell) => cell ?? '').join(' | ')} |`
  })
  const titles = ['Transition', 'States', 'Fence', 'Status written', 'Lock', 'Further guard', 'Caller']
  return [`| ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length)}`, ...lines].join('\n')
}

const pairs = (moves: TransitionRow['moves']): [string, string][] =>
  Object.entries(moves).flatMap(([from, to]) => [to].flat().map((one): [string, string] => [from, one]))

/** Groups the states by their successor: `queued, interrupted → running`. */
function writeMoves(moves: TransitionRow['moves']): string {
  const groups = new Map<string, string[]>()
  for (const [from = '', ...to] of Object.entries(moves).map(([from, to]) => [from, to].flat())) {
    const change = to.includes(from) ? 'unchanged' : `→ ${to.join(' or ')}`
    groups.set(change, [...(groups.get(change) ?? []), from])
  }
  return [...groups].map(([change, from]) => `${from.join(', ')} ${change}`).join('<br>')
}

if (import.meta.main) await writeFile(PAGE, replaceStates(await readFile(PAGE, 'utf8')))
