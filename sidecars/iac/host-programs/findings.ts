/** A construct that would run a program on the engine's machine. */
export interface Finding {
  /** Relative to the workspace. */
  file: string
  line: number
  construct: string
}

export interface FileScan {
  findings: Omit<Finding, 'file'>[]
  /** Literal local sources (`./…`, `../…`) of the file's module calls. */
  modules: string[]
  /** False when the file could not be followed to its end. */
  complete: boolean
}

/** `file` copies; every other provisioner runs a program, those found beside the configuration too. */
export const isProgramProvisioner = (type: string | null): boolean => type !== 'file'

const PROGRAM_TYPES = ['external', 'local_command']
const TYPED_BLOCKS = ['data', 'ephemeral', 'action']

export const isProgramBlock = (block: string, type: string | null): boolean =>
  TYPED_BLOCKS.includes(block) && type !== null && PROGRAM_TYPES.includes(type)

export const isLocalSource = (source: string): boolean => /^\.\.?\//.test(source)
