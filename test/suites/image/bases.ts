import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { pathOf, ROOT, type Workshop } from './tools.ts'

const run = promisify(execFile)

export const TARGETS = ['core', 'core-deno', 'core-bun', 'worker', 'iac', 'sidecars'] as const
export type TargetName = (typeof TARGETS)[number]

/** Seconds since 1970: the time of every file and image. */
const EPOCH = '1767225600'
export const REVISION = '0123456789abcdef0123456789abcdef01234567'
export const VERSION = '1.2.3'

/**
 * Makes the images that the Dockerfile begins with, on a machine without registries: Debian with the pinned Node, the
 * same with npm and what this machine needs to reach packages, and an engine alone.
 */
export async function makeBases({ folder, buildah }: Workshop): Promise<void> {
  const bases = join(folder, 'bases')
  await mkdir(bases, { recursive: true })
  const { stdout } = await run('bash', [join(ROOT, '.ci/install-images')], { maxBuffer: 1e8 })
  await cp(stdout.trim(), join(bases, 'debian.tar'))
  await cp(join(ROOT, 'node_modules/node/bin/node'), join(bases, 'node'))
  const npm = dirname(dirname(await realpath((await pathOf('npm')) ?? '')))
  await cp(npm, join(bases, 'npm'), { recursive: true })
  await cp(await engine(), join(bases, 'engine'))
  const { NODE_EXTRA_CA_CERTS: authorities } = process.env
  await writeFile(join(bases, 'authorities.pem'), authorities ? await readFile(authorities) : '')
  const registry = (await run('npm', ['config', 'get', 'registry'], { cwd: ROOT })).stdout.trim()
  await writeFile(join(bases, 'npmrc'), `registry=${registry}\nupdate-notifier=false\n`)
  const files: Record<string, string> = {
    node: 'FROM scratch\nADD debian.tar /\nCOPY node /usr/local/bin/node\n',
    build: [
      'FROM localhost/base:node',
      'COPY npm /usr/local/lib/node_modules/npm',
      'COPY authorities.pem /etc/authorities.pem',
      'COPY npmrc /root/.npmrc',
      'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
      ...(authorities ? ['ENV NODE_EXTRA_CA_CERTS=/etc/authorities.pem'] : []),
    ].join('\n'),
    engine: 'FROM scratch\nCOPY engine /bin/terraform\n',
  }
  for (const [name, file] of Object.entries(files)) {
    await writeFile(join(bases, `${name}.Dockerfile`), file)
    await buildah([
      ...['bud', '--pull-never', '--layers', '--timestamp', EPOCH, '--tag', `localhost/base:${name}`],
      ...['--file', join(bases, `${name}.Dockerfile`), bases],
    ])
  }
}

async function engine(): Promise<string> {
  const path = (await pathOf('terraform')) ?? (await pathOf('tofu'))
  if (path === null) throw new Error('there is no engine on PATH; npm run engine fetches one')
  return realpath(path)
}

/** Builds a target from a checkout; `again` uses nothing of an earlier build. Returns the name of the image. */
export async function buildTarget(
  { buildah }: Workshop,
  target: TargetName,
  { context = ROOT, again = false } = {},
): Promise<string> {
  const image = `localhost/platform-${target}:${again ? 'again' : 'test'}`
  const args = {
    SOURCE_DATE_EPOCH: EPOCH,
    APP_VERSION: VERSION,
    REVISION,
    SOURCE: 'https://git.example.com/platform',
    NODE_IMAGE: 'localhost/base:node',
    BUILD_IMAGE: 'localhost/base:build',
    ENGINE_IMAGE: 'localhost/base:engine',
  }
  await buildah([
    ...['bud', '--pull-never', '--format', 'docker', '--timestamp', EPOCH, '--layers'],
    ...(again ? ['--no-cache'] : []),
    ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...['--target', target, '--tag', image, context],
  ])
  return image
}
