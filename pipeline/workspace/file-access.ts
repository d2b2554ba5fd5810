import type { Config } from '../../config/types.ts'
import { existingPath } from './confine.ts'
import { doesNotExist, removeFile, replaceInText, writeText } from './edit-file.ts'
import { createLocalGit } from './git.ts'
import { grep, type Search } from './grep.ts'
import { listDirectory } from './list-directory.ts'
import { readText } from './read-text.ts'
import { type SurveyedFile, survey } from './survey.ts'
import type { Workspace } from './types.ts'

/**
 * The files of an engine root as an agent may use them. Every path is relative to the root; nothing
 * outside of it, of git, of the backend override or of engine state is shown or changed. Whatever is
 * refused is a `ToolError` whose text is for the model.
 */
export interface FileAccess {
  /** Text, cut with a note after 200,000 characters. */
  read(path: string): Promise<string>
  /** Creates directories, overwrites. Only `tf` and `tfvars` files, here and below. */
  write(path: string, content: string): Promise<void>
  /** Search/replace blocks, all or none. */
  replace(path: string, diff: string): Promise<void>
  remove(path: string): Promise<void>
  /** Immediate children; directories end with a slash. */
  list(path: string): Promise<string[]>
  /** Every file below the root that no ignore rule hides, with its size in bytes; links and dot files left out. */
  survey(signal?: AbortSignal): Promise<SurveyedFile[]>
  /** Lines `file:line:text`, at most 50. */
  grep(search: Search, signal?: AbortSignal): Promise<string[]>
}

const MAX_READ = 200_000

export function createFileAccess(config: Config, workspace: Pick<Workspace, 'iac_root'>): FileAccess {
  const editor = { root: workspace.iac_root, paths: config.paths, git: createLocalGit(config.git) }
  return {
    read: async (path) => {
      const target = await existingPath(editor, path)
      const text = target === null ? null : await readText(target, MAX_READ)
      if (text === null) throw doesNotExist(path)
      return text
    },
    write: (path, content) => writeText(editor, path, content),
    replace: (path, diff) => replaceInText(editor, path, diff),
    remove: (path) => removeFile(editor, path),
    list: (path) => listDirectory(editor, path),
    survey: (signal) => survey(editor, signal),
    grep: (search, signal) => grep(editor, search, signal),
  }
}
