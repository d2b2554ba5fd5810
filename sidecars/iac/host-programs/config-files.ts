import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'

export interface ConfigFile {
  /** Relative to the workspace. */
  name: string
  content: string
}

const CONFIG_FILE = /\.(?:tf|tofu)(?:\.json)?$/
/** The engine skips editor leavings. */
const IGNORED = /^\.|~$|^#.*#$/

export const isConfigFile = (name: string): boolean => CONFIG_FILE.test(name) && !IGNORED.test(name)

/** Configuration files of one folder; none when it is missing. */
export async function configFiles(workspace: string, folder: string): Promise<ConfigFile[]> {
  const names = await readdir(folder).catch(() => [])
  const files: ConfigFile[] = []
  for (const name of names.filter(isConfigFile).sort()) {
    const path = join(folder, name)
    const entry = await stat(path).catch(() => null)
    if (entry?.isFile()) files.push({ name: relative(workspace, path), content: await readFile(path, 'utf8') })
  }
  return files
}

/** Folders of all modules that the engine has installed, local ones included, as its manifest lists them. */
export async function installedModules(workspace: string, data_dir: string): Promise<string[]> {
  try {
    const manifest: unknown = JSON.parse(
      await readFile(join(resolve(workspace, data_dir), 'modules', 'modules.json'), 'utf8'),
    )
    const modules = typeof manifest === 'object' && manifest !== null && 'Modules' in manifest ? manifest.Modules : []
    if (!Array.isArray(modules)) return []
    return modules.flatMap((module) => (typeof module?.Dir === 'string' ? [resolve(workspace, module.Dir)] : []))
  } catch {
    return []
  }
}

/** Real path, or null when there is nothing. */
export const realFolder = (folder: string): Promise<string | null> => realpath(folder).catch(() => null)
