import type { Tool } from '../../src/agent/types.ts'
import type { FileAccess } from '../workspace/files/access.ts'
import type { Workspace } from '../workspace/types.ts'
import { bulkGrepSearch } from './bulk-grep-search.ts'
import { deleteFile } from './delete-file.ts'
import { diffHistory } from './diff-history.ts'
import { listDir } from './list-dir.ts'
import { readFile } from './read-file.ts'
import { replaceInFile } from './replace-in-file.ts'
import { writeToFile } from './write-to-file.ts'

/** Tools that look and change nothing. */
export const inspectionTools = (access: FileAccess, workspace: Pick<Workspace, 'branchDiff'>): Tool[] => [
  readFile(access),
  listDir(access),
  bulkGrepSearch(access),
  diffHistory(workspace),
]

/** Tools that change files. */
export const fileTools = (access: FileAccess): Tool[] => [
  writeToFile(access),
  replaceInFile(access),
  deleteFile(access),
]
