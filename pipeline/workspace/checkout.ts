import type { Config } from '../../config/types.ts'
import type { Logger } from '../../src/base/log.ts'
import type { Git } from './git.ts'

/** A clone on its session branch: what the operations of a workspace work on. */
export interface Checkout {
  git: Git
  /** Absolute path of the clone. */
  clone: string
  /** Absolute, real path of the engine root. */
  iac_root: string
  branch: string
  default_branch: string
  paths: Config['paths']
  log: Logger
}

/** Pathspecs that leave the backend override file out, whatever directory it is in. */
export const hiddenPaths = (paths: Config['paths']): string[] => [
  `:(exclude,glob,icase)**/${paths.backend_override_filename}`,
]
