import { isWrittenOut, readHcl, traversalsIn } from '../../hcl/read.ts'
import type { HclBlock } from '../../hcl/tree.ts'
import { isCodePath } from '../../plan/code/blocks.ts'
import { type CodeFile, folderOf, resolveFolder } from '../../plan/code/modules.ts'
import { isLoadedByItself } from '../../plan/code/variable-files.ts'
import { wordsOf } from './choose-files.ts'

/** A top-level block of the native syntax, a local value, or a value in a variable file. */
interface Piece {
  path: string
  folder: string
  /** Its place in the code, to show pieces in order. */
  place: number
  /** The file that holds it, and what a reference calls it, such as `:local.tags`; empty for what nothing refers to. */
  name: string
  /** Of a resource, otherwise empty. */
  type: string
  isValue: boolean
  text: string
  labels: string
  argumentNames: string
  /** Names of what it refers to. */
  uses: string[]
  /** The folder that a module call uses; null for other blocks. */
  calls: string | null
  /** The variable whose value it is; null for what is no line of a variable file. */
  assigns: string | null
}

/** The weight of a word in the name of an argument; 1 in the name of a block. */
const ARGUMENT = 0.3
/** Maximum pieces that a request leads to, and their minimum share of the best score. */
const STARTS = { count: 8, share: 0.3 }
/** A value with more users says nothing about a request. */
const MAX_USERS = 4

/**
 * Chooses the blocks that a request is about by its words, what they refer to, what uses the values among them, and
 * what a called module makes; then one resource of each other type, since the paths of its attributes follow from the
 * code. Null when no word fits, or when some code is not in the native syntax: then nothing can be left out.
 * @param maxLength maximum characters; what does not fit is left out, the farthest first
 */
export function chooseBlocks(files: readonly CodeFile[], about: string, maxLength: number): string | null {
  const read = files
    .filter(({ path }) => isCodePath(path) || isLoadedByItself(path))
    .map((file, index) => (isJson(file.path) ? null : readPieces(file, index)))
  const pieces = read.flatMap((one) => one ?? [])
  if (read.includes(null)) return null
  const starts = matching(pieces, about)
  if (starts.length === 0) return null
  const chosen = follow(pieces, starts)
  const shown = new Set([...chosen].map(({ type }) => type))
  for (const piece of pieces)
    if (piece.type !== '' && !shown.has(piece.type)) {
      shown.add(piece.type)
      chosen.add(piece)
    }
  return write(fitting(chosen, maxLength))
}

const isJson = (path: string): boolean => path.endsWith('.json')

/** Reads the pieces of a file; null when it has syntax errors. */
function readPieces({ path, text }: CodeFile, index: number): Piece[] | null {
  const { body, complete, faults } = readHcl(text)
  if (!complete || faults.length > 0) return null
  const folder = folderOf(path)
  const piece = (start: number, end: number, more: Pick<Piece, 'type' | 'isValue' | 'labels' | 'argumentNames'>) => ({
    ...{ path, folder, place: index * 1e9 + start, text: text.slice(start, end), calls: null, assigns: null },
    ...{ name: '', uses: traversalsIn(text.slice(start, end)).map((names) => nameOf(folder, names)) },
    ...more,
  })
  if (!isCodePath(path))
    return body.attributes.map(({ name, start, end }) => ({
      ...piece(start, end, { type: '', isValue: false, labels: name, argumentNames: '' }),
      assigns: nameOf(folder, ['var', name]),
    }))
  return body.blocks.flatMap((block): Piece[] => {
    if (block.type === 'locals')
      return block.body.attributes.map(({ name, start, end }) => ({
        ...piece(start, end, { type: '', isValue: true, labels: name, argumentNames: '' }),
        name: nameOf(folder, ['local', name]),
      }))
    const { type: kind, labels, start, end } = block
    return [
      {
        ...piece(start, end, {
          type: kind === 'resource' ? (labels[0] ?? '') : '',
          isValue: kind === 'variable',
          labels: labels.join(' '),
          // Those of a variable are the same for all.
          argumentNames: kind === 'variable' ? '' : argumentsIn(block).join(' '),
        }),
        ...(kind === 'variable' && { text: variableIn(block, text) }),
        name: nameOf(folder, kind === 'resource' ? labels : [kind === 'variable' ? 'var' : kind, ...labels]),
        calls: kind === 'module' ? resolveFolder(folder, sourceOf(block)) : null,
      },
    ]
  })
}

/** Names what a reference means, without attributes of it. */
const nameOf = (folder: string, names: readonly string[]): string =>
  `${folder}:${names.slice(0, names[0] === 'data' ? 3 : 2).join('.')}`

/** Writes a variable with its default alone, since its rules and its description say nothing of a plan. */
function variableIn({ labels: [name = ''], body }: HclBlock, text: string): string {
  const given = body.attributes.find((attribute) => attribute.name === 'default')
  return given ? `variable "${name}" {\n  ${text.slice(given.start, given.end)}\n}` : `variable "${name}" {}`
}

const argumentsIn = ({ body }: HclBlock): string[] => [
  ...body.attributes.map(({ name }) => name),
  ...body.blocks.flatMap((block) => [block.type, ...argumentsIn(block)]),
]

function sourceOf({ body }: HclBlock): string {
  const value = body.attributes.find(({ name }) => name === 'source')?.value
  return value?.kind === 'string' && isWrittenOut(value) ? value.value : ''
}

/** Returns the pieces that share words with the request; a word in one piece counts 1, in four 0.25. */
function matching(pieces: readonly Piece[], about: string): Piece[] {
  const wanted = wordsOf(about)
  const frequency = new Map<string, number>()
  const shared = pieces.map((piece) => {
    const words = new Map<string, number>()
    for (const word of wordsOf(piece.argumentNames)) if (wanted.has(word)) words.set(word, ARGUMENT)
    for (const word of wordsOf(piece.labels)) if (wanted.has(word)) words.set(word, 1)
    for (const word of words.keys()) frequency.set(word, (frequency.get(word) ?? 0) + 1)
    return { piece, words }
  })
  const scored = shared.map(({ piece, words }) => ({
    piece,
    score: [...words].reduce((sum, [word, weight]) => sum + weight / (frequency.get(word) ?? 1), 0),
  }))
  const best = Math.max(0, ...scored.map(({ score }) => score))
  return scored
    .filter(({ score }) => score > 0 && score >= best * STARTS.share)
    .sort((a, b) => b.score - a.score || a.piece.place - b.piece.place)
    .slice(0, STARTS.count)
    .map(({ piece }) => piece)
}

/** Returns the pieces, and those that they lead to, the nearest first. */
function follow(pieces: readonly Piece[], starts: readonly Piece[]): Set<Piece> {
  const named = Map.groupBy(pieces, ({ name }) => name)
  const using = (name: string) => pieces.filter(({ uses }) => uses.includes(name))
  const steps = new Map(starts.map((piece) => [piece, 0]))
  const add = (piece: Piece, step: number) => {
    if (!steps.has(piece)) steps.set(piece, step)
  }
  for (const { isValue, name } of starts) {
    const users = isValue ? using(name) : []
    if (users.length <= MAX_USERS) for (const user of users) add(user, 1)
  }
  const assigning = Map.groupBy(pieces, ({ assigns }) => assigns)
  // A map is iterated in the order of insertion, so that pieces added here follow later.
  for (const [{ name, uses, calls, assigns, isValue }, step] of steps) {
    for (const value of (name !== '' && assigning.get(name)) || []) add(value, step)
    if (assigns !== null) for (const variable of named.get(assigns) ?? []) add(variable, step)
    // Beyond what a block of the request refers to, values are followed to what they are made of.
    if (step === 0 || isValue) for (const name of uses) for (const used of named.get(name) ?? []) add(used, step + 1)
    if (step === 0 && calls !== null)
      for (const made of pieces) if (made.folder === calls && made.type !== '') add(made, step + 1)
  }
  return new Set(steps.keys())
}

function fitting(chosen: Iterable<Piece>, maxLength: number): Piece[] {
  const kept: Piece[] = []
  let left = maxLength
  for (const piece of chosen) {
    const length = piece.text.length + piece.path.length
    if (length > left) continue
    left -= length
    kept.push(piece)
  }
  return kept.sort((a, b) => a.place - b.place)
}

/** Writes pieces below the paths of their files; local values of a file stand in one block. */
function write(pieces: readonly Piece[]): string {
  const parts = [...Map.groupBy(pieces, ({ path }) => path)].map(([path, own]) => {
    const locals = own.filter(({ name }) => name.includes(':local.'))
    const blocks = own.filter((piece) => !locals.includes(piece)).map(({ text }) => text.trim())
    if (locals.length > 0) blocks.unshift(`locals {\n${locals.map(({ text }) => `  ${text.trim()}`).join('\n')}\n}`)
    return `--- of ${path.replaceAll(/[\s\p{Cc}]+/gu, ' ')} ---\n${blocks.join('\n')}`
  })
  return parts.join('\n\n')
}
