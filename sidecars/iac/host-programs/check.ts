import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { JobKind } from '../types.ts'
import { unzip } from '../zip.ts'
import { type FileScan, type Finding, refusalText, unreadableText } from './findings.ts'
import { scanHcl } from './scan-hcl.ts'
import { scanJson } from './scan-json.ts'

const MAX_FILE_BYTES = 64 * 1024 * 1024

/**
 * The diagnostic that refuses a job because its configuration would run programs on this machine; null when the job may
 * run. `plan` and `import` are checked on the files of the workspace, `apply` on the copy inside its plan file.
 */
export async function checkHostPrograms(
  kind: JobKind,
  workspace: string,
  planFile: string | undefined,
  env: Record<string, string | undefined>,
): Promise<string | null> {
  if (kind === 'scope_resource_ids') return null
  const shipped = await findShippedPrograms(workspace)
  if (shipped.length > 0) return refusalText(shipped)
  if (kind === 'apply' && planFile !== undefined) {
    const snapshot = await readPlanSnapshot(resolve(workspace, planFile))
    if (snapshot) return judge(snapshot.map((file) => ({ file, scan: scanFile(file) })))
  }
  return kind === 'plan' || kind === 'import' || kind === 'apply'
    ? checkFolders(workspace, env.TF_DATA_DIR || '.terraform')
    : null
}

const scanFile = ({ name, content }: ConfigFile): FileScan =>
  name.endsWith('.json') ? scanJson(content) : scanHcl(content)

function judge(scans: { file: ConfigFile; scan: FileScan }[]): string | null {
  const findings: Finding[] = scans.flatMap(({ file, scan }) =>
    scan.findings.map((finding) => ({ file: file.name, ...finding })),
  )
  if (findings.length > 0) return refusalText(findings)
  const broken = scans.find(({ scan }) => !scan.complete)
  return broken ? unreadableText(broken.file.name) : null
}

/** Checks the root, every installed module, and every module that one of them names by a local path. */
async function checkFolders(workspace: string, dataDir: string): Promise<string | null> {
  const folders = [workspace, ...(await readInstalledModules(workspace, dataDir))]
  const seen = new Set<string>()
  const scans: { file: ConfigFile; scan: FileScan }[] = []
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const real = await realFolder(folder)
    if (real === null || seen.has(real)) continue
    seen.add(real)
    for (const file of await readConfigFiles(workspace, folder)) {
      const scan = scanFile(file)
      scans.push({ file, scan })
      folders.push(...scan.modules.map((source) => resolve(real, source)))
    }
  }
  return judge(scans)
}

/** Finds plugins that lie beside the configuration, where the engine would run them. */
async function findShippedPrograms(workspace: string): Promise<Finding[]> {
  const names = await readdir(workspace).catch(() => [])
  const plugins = names.filter((name) => /^(?:terraform|tofu)-(?:provider|provisioner)-/.test(name))
  const mirror = join(workspace, 'terraform.d', 'plugins')
  const shipped = (await lstat(mirror).catch(() => null)) ? [relative(workspace, mirror)] : []
  return [...plugins, ...shipped].map((file) => ({ file, line: 0, construct: 'a plugin inside the repository' }))
}

/** Reads the copy of the configuration that a plan file carries; null when the file is no readable archive. */
async function readPlanSnapshot(path: string): Promise<ConfigFile[] | null> {
  const archive = await readFile(path).catch(() => null)
  const isSource = (name: string) =>
    name.startsWith('tfconfig/m-') && isConfigFile(name.slice(name.lastIndexOf('/') + 1))
  const files = archive ? unzip(archive, isSource, MAX_FILE_BYTES) : null
  return files
    ? [...files].map(([name, content]) => ({ name: name.slice('tfconfig/'.length), content: content.toString('utf8') }))
    : null
}

interface ConfigFile {
  /** Relative to the workspace. */
  name: string
  content: string
}

const CONFIG_FILE = /\.(?:tf|tofu)(?:\.json)?$/
/** The engine skips hidden files and what editors leave behind, such as `main.tf~`. */
const IGNORED = /^\.|~$|^#.*#$/

const isConfigFile = (name: string): boolean => CONFIG_FILE.test(name) && !IGNORED.test(name)

/** Reads the configuration files of one folder; answers none when the folder is missing. */
async function readConfigFiles(workspace: string, folder: string): Promise<ConfigFile[]> {
  const names = await readdir(folder).catch(() => [])
  const files: ConfigFile[] = []
  for (const name of names.filter(isConfigFile).sort()) {
    const path = join(folder, name)
    const entry = await stat(path).catch(() => null)
    if (entry?.isFile()) files.push({ name: relative(workspace, path), content: await readFile(path, 'utf8') })
  }
  return files
}

/** The folders of all modules that the engine has installed, local ones included, as its manifest lists them. */
async function readInstalledModules(workspace: string, dataDir: string): Promise<string[]> {
  try {
    const manifest: unknown = JSON.parse(
      await readFile(join(resolve(workspace, dataDir), 'modules', 'modules.json'), 'utf8'),
    )
    const modules = typeof manifest === 'object' && manifest !== null && 'Modules' in manifest ? manifest.Modules : []
    if (!Array.isArray(modules)) return []
    return modules.flatMap((module) => (typeof module?.Dir === 'string' ? [resolve(workspace, module.Dir)] : []))
  } catch {
    return []
  }
}

/** The real path of a folder, or null when there is none. */
const realFolder = (folder: string): Promise<string | null> => realpath(folder).catch(() => null)
