import { readHeader } from '../../hcl/read.ts'
import { type DiffFile, readDiffFiles } from '../code/branch-diff.ts'

/** The changes of a branch in a block of code, over all files of a folder. */
export interface ChangedBlock {
  /** True if the diff takes the header of the block away. */
  removedHeader: boolean
  /** True if the diff adds the header of the block. A block that moves from one file to another has both. */
  addedHeader: boolean
  /** Lines that the diff takes out of the block, and lines that it adds, without blanks around them. */
  removed: string[]
  added: string[]
}

/** Finds what a branch changed in a block. */
export interface ChangedBlocks {
  /**
   * Undefined when the diff does not show a change of the block.
   * @param directory folder of the file, relative to the engine root; empty for the root
   * @param label `resource aws_s3_bucket.logs`, `module network`, `variable size`, `locals`, or `tfvars` for the lines
   * of all files of values in the folder
   */
  find(directory: string, label: string): ChangedBlock | undefined
}

/**
 * Reads from the diff of a branch which blocks it changed. Blocks are told by their headers in the first column and by
 * the header that git writes behind `@@`. Where neither is there, a change belongs to no block, so that a block may
 * have changed without being found; what is found has changed for certain. Blocks of new files count as added.
 */
export function readChangedBlocks(diff: string): ChangedBlocks {
  const blocks = new Map<string, ChangedBlock>()
  const blockOf = (directory: string, label: string): ChangedBlock => {
    const key = `${directory}\n${label}`
    const known = blocks.get(key)
    if (known) return known
    const block: ChangedBlock = { removedHeader: false, addedHeader: false, removed: [], added: [] }
    blocks.set(key, block)
    return block
  }
  for (const file of readDiffFiles(diff)) {
    const directory = file.path.split('/').slice(0, -1).join('/')
    if (file.path.endsWith('.tfvars')) collectValues(file, blockOf(directory, 'tfvars'))
    else if (/\.(?:tf|tofu)$/.test(file.path)) collectBlocks(file, (label) => blockOf(directory, label))
  }
  return { find: (directory, label) => blocks.get(`${directory}\n${label}`) }
}

const LABELLED = new Set(['resource', 'data', 'module', 'variable', 'output', 'locals'])

function labelOf(line: string): string | null {
  const { type, labels } = readHeader(line) ?? {}
  return type !== undefined && LABELLED.has(type) ? [type, labels?.slice(0, 2).join('.')].join(' ').trim() : null
}

/** The lines of a file with their signs. A new file is all additions. */
const linesOf = ({ change, text }: DiffFile): string[] =>
  change === 'new' ? text.split('\n').map((line) => `+${line}`) : text.split('\n')

function collectValues(file: DiffFile, block: ChangedBlock): void {
  for (const line of linesOf(file)) {
    if (line.startsWith('-')) block.removed.push(line.slice(1).trim())
    if (line.startsWith('+')) block.added.push(line.slice(1).trim())
  }
}

function collectBlocks(file: DiffFile, blockOf: (label: string) => ChangedBlock): void {
  // A header may differ between the two sides, so each side has a block of its own.
  const current: Record<'-' | '+', string | null> = { '-': null, '+': null }
  const collect = (side: '-' | '+', text: string, isChange: boolean) => {
    const label = labelOf(text)
    if (label !== null) current[side] = label
    const open = current[side]
    if (open === null) return
    if (isChange) addLine(blockOf(open), side, text, label !== null)
    if (/^\}/.test(text) || (label !== null && /\}\s*$/.test(text))) current[side] = null
  }
  for (const line of linesOf(file)) {
    const text = line.slice(1)
    if (line.startsWith('@@')) {
      const label = labelOf(line.replace(/^@@.*?@@ ?/, ''))
      Object.assign(current, { '-': label, '+': label })
    } else if (line.startsWith('-')) collect('-', text, true)
    else if (line.startsWith('+')) collect('+', text, true)
    else if (line.startsWith(' ')) {
      collect('-', text, false)
      collect('+', text, false)
    }
  }
}

function addLine(block: ChangedBlock, side: '-' | '+', text: string, isHeader: boolean): void {
  const isRemoved = side === '-'
  if (isHeader) block[isRemoved ? 'removedHeader' : 'addedHeader'] = true
  const line = isHeader ? text.slice(text.indexOf('{') + 1).trim() : text.trim()
  if (line !== '') block[isRemoved ? 'removed' : 'added'].push(line)
}
