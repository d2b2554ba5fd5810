/** What an image of a process holds, beside Node's or another runtime's own files. */
export interface Target {
  /** Files that start the process or a thread of it. Everything that they import comes along. */
  entries: readonly string[]
  /** Files and folders that are read by their path and not imported. A package is `node_modules/<name>`. */
  assets: readonly string[]
  /** Folders whose imports are not followed: another image has them. */
  without?: readonly string[]
  /** Names of the runtime in `exports` of packages. */
  conditions: readonly string[]
}

/** Answers the health checks of every image. */
const PROBE = 'src/runtime/probe.ts'
const PROMPTS = 'src/prompts/seed'

const core = (conditions: readonly string[], ...more: string[]): Target => ({
  entries: ['routes/main.ts', PROBE],
  // The two viewers of the API description: `src/runtime/assets.ts` names these files.
  assets: [
    ...['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'].map(
      (name) => `node_modules/swagger-ui-dist/${name}`,
    ),
    'node_modules/redoc/bundles/redoc.standalone.js',
    ...[PROMPTS, 'console/dist', ...more],
  ],
  conditions,
})

/** The targets of the Dockerfile. */
export const TARGETS: Readonly<Record<string, Target>> = {
  core: core(['node']),
  'core-deno': core(['deno', 'node'], 'deno.json'),
  'core-bun': core(['bun', 'node']),
  worker: {
    entries: ['pipeline/main.ts', 'src/runtime/lease-thread.ts', PROBE],
    // ripgrep asks Node for the path of its program, which is a package for each platform.
    assets: [PROMPTS, 'node_modules/@vscode/ripgrep-*'],
    conditions: ['node'],
  },
  iac: {
    entries: ['sidecars/main.ts', 'sidecars/iac/host-programs/inspect-thread.ts', PROBE],
    assets: [],
    without: ['sidecars/authz', 'sidecars/mapping', 'sidecars/notifications'],
    conditions: ['node'],
  },
  sidecars: { entries: ['sidecars/main.ts', PROBE], assets: [], without: ['sidecars/iac'], conditions: ['node'] },
}
