import { Unavailable } from '../world/part.ts'
import { output } from '../world/tools/command.ts'

/**
 * Folder of a version of a module, as Go keeps it.
 * @throws Unavailable without Go or the module
 */
export async function moduleFolder(module: string, version: string): Promise<string> {
  const told = await output('go', ['mod', 'download', '-json', `${module}@${version}`], { cwd: '/' })
  const { Dir, Error: fault } = JSON.parse(told) as { Dir?: string; Error?: string }
  if (!Dir) throw new Unavailable(`${module} ${version}: ${fault}`)
  return Dir
}
