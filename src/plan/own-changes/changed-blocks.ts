import { readHeader } from '../../hcl/read.ts'
import { type DiffFile, readDiffFiles } from '../code/branch-diff.ts'

/** A branch's changes of a block over all files of a folder. */
export interface ChangedBlock {
  /** True if the diff removes the header of the block. */
  removedHeader: boolean
  /** True if the diff adds the header of the block; a move between files has both. */
  addedHeader: boolean
  /** Removed and added lines of the block, trimmed. */
  removed: string[]
  added: string[]
}

/** A lookup of a branch's changes by block. */
export interface ChangedBlocks {
  /**
   * Returns the change of a block; undefined when the diff shows none.
   * @param directory folder relative to the engine root; empty for the root
   * @param label `resource aws_s3_bucket.logs`, `module network`, `variable size`, `locals`, or `tfvars` for all
   * variable files in the folder
   */
  find(directory: string, label: string): ChangedBlock | undefined
}

/**
 * Reads which blocks a branch diff changes. Blocks are identified by headers in the first column or after `@@`; changes
 * without a header are ignored, so results are certain but may be incomplete. Blocks of new files count as added.
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

/** Returns the signed lines of a file; a new file is all additions. */
const linesOf = ({ change, text }: DiffFile): string[] =>
  change === 'new' ? text.split('\n').map((line) => `+${line}`) : text.split('\n')

function collectValues(file: DiffFile, block: ChangedBlock): void {
  for (const line of linesOf(file)) {
    if (line.startsWith('-')) block.removed.push(line.slice(1).trim())
    if (line.startsWith('+')) block.added.push(line.slice(1).trim())
  }
}

function collectBlocks(file: DiffFile, blockOf: (label: string) => ChangedBlock): void {
  // A header may differ between the two sides, so each side tracks its own block.
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
