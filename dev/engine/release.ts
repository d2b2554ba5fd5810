/** The release that is downloaded if no engine is installed, and that `.ci/build-engine` and `npm run world` build. */
export const OPENTOFU = '1.12.6'

/** Address below which the project publishes its releases; `IAC_DOWNLOAD_URL` names a mirror with the same layout. */
export const RELEASES = 'https://github.com/opentofu/opentofu/releases/download'

/** A release in the layout of the project, and the key that signs its list of checksums. */
export interface Release {
  version: string
  baseUrl: string
  publicKey: string
}

/** The published archive for a machine. */
export interface Target {
  /** `<os>_<architecture>`, as the names of the archives have it. */
  name: string
  /** File of the engine in the archive and on the disk. */
  program: string
}

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' }
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Returns the archive for a machine; null if none is published. Windows on ARM runs the one for amd64. */
export function targetOf(platform: NodeJS.Platform, architecture: NodeJS.Architecture): Target | null {
  const system = SYSTEMS[platform]
  const processor = system === 'windows' && architecture === 'arm64' ? 'amd64' : ARCHITECTURES[architecture]
  if (system === undefined || processor === undefined) return null
  return { name: `${system}_${processor}`, program: system === 'windows' ? 'tofu.exe' : 'tofu' }
}
