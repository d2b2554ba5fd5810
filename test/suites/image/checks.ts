import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { REVISION, type TargetName, VERSION } from './bases.ts'
import { inImage, type OpenImage } from './container.ts'
import { readJson } from './tools.ts'

const run = promisify(execFile)
const MEGABYTE = 1_000_000
/** Of the packages of one image. All packages of production are 264 MB. */
const PACKAGES_LIMIT = 40 * MEGABYTE

export const USERS: Readonly<Record<TargetName, string>> = {
  core: '10001:10000',
  'core-deno': '10001:10000',
  'core-bun': '10001:10000',
  worker: '10002:10000',
  iac: '10003:10000',
  sidecars: '10004:10000',
}
/** Programs of which each image has exactly the named ones. */
const PROGRAMS: Readonly<Record<TargetName, readonly string[]>> = {
  core: ['node'],
  'core-deno': ['deno'],
  'core-bun': ['bun'],
  worker: ['git', 'node'],
  iac: ['bwrap', 'git', 'node', 'pasta', 'terraform'],
  sidecars: ['node'],
}
const LOOKED_FOR = [
  ...['bun', 'bwrap', 'cc', 'corepack', 'curl', 'deno', 'gcc', 'git', 'make', 'node', 'npm', 'npx', 'pasta', 'python3'],
  ...['ssh', 'terraform', 'tofu', 'tsc', 'wget', 'yarn'],
]
/** Folders of the project's own code of which each image has exactly the named ones. */
const CODE: Readonly<Record<TargetName, readonly string[]>> = {
  core: ['config', 'console', 'node_modules', 'routes', 'src'],
  'core-deno': ['config', 'console', 'node_modules', 'routes', 'src'],
  'core-bun': ['config', 'console', 'node_modules', 'routes', 'src'],
  worker: ['config', 'node_modules', 'pipeline', 'src'],
  iac: ['config', 'node_modules', 'sidecars', 'src'],
  sidecars: ['config', 'node_modules', 'sidecars', 'src'],
}

type Check = (image: OpenImage, target: TargetName) => Promise<string>

/** What must hold of every image before it is started. Each returns what was seen. */
export const IMAGE_CHECKS: readonly (readonly [name: string, check: Check])[] = [
  [
    'says what it is and whom it runs as',
    async ({ config, history }, target) => {
      assert.equal(config.User, USERS[target])
      const label = (name: string) => config.Labels[`org.opencontainers.image.${name}`]
      assert.equal(label('title'), `platform-${target}`)
      assert.equal(label('version'), VERSION)
      assert.equal(label('revision'), REVISION)
      assert.equal(label('source'), 'https://git.example.com/platform')
      for (const name of ['description', 'licenses', 'vendor']) assert.ok(label(name), `no label ${name}`)
      assert.equal(config.Healthcheck.Test[0], 'CMD')
      assert.ok(config.Entrypoint.length > 0)
      assert.ok(config.Env.includes('NODE_ENV=production'))
      assert.doesNotMatch(JSON.stringify([config.Env, history]), /token|password|authorities|registry=/i)
      return config.User
    },
  ],
  [
    'has the programs and the code that its process needs, and no others',
    async ({ root }, target) => {
      const folders = ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/bin', 'usr/local/sbin']
      const present = new Set((await Promise.all(folders.map((folder) => readdir(join(root, folder))))).flat())
      assert.deepEqual(
        LOOKED_FOR.filter((name) => present.has(name)),
        PROGRAMS[target],
      )
      const entries = await readdir(join(root, 'app'), { withFileTypes: true })
      assert.deepEqual(
        entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
        CODE[target],
      )
      if (target === 'iac' || target === 'sidecars') {
        const services = (await readdir(join(root, 'app/sidecars'))).filter((name) => !/\.ts$|^shared$/.test(name))
        assert.deepEqual(services, target === 'iac' ? ['iac'] : ['authz', 'mapping', 'notifications'])
      }
      return PROGRAMS[target].join(', ')
    },
  ],
  [
    'has few packages, none for development, and nothing that is never loaded',
    async ({ root }) => {
      const { packages } = (await readJson('package-lock.json')) as { packages: Record<string, { dev?: boolean }> }
      const files = await filesBelow(join(root, 'app/node_modules'))
      const bytes = files.reduce((sum, { size }) => sum + size, 0)
      assert.ok(bytes > MEGABYTE && bytes < PACKAGES_LIMIT, `node_modules take ${bytes} bytes`)
      const folders = new Set(
        files.flatMap(
          ({ path }) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(`node_modules/${path}`)?.[0] ?? [],
        ),
      )
      for (const folder of folders) {
        assert.ok(packages[folder], `${folder} is not in the lock file`)
        assert.ok(!packages[folder].dev, `${folder} is for development`)
      }
      assert.deepEqual(
        files.filter(({ path }) => /\.(map|d\.[cm]?ts|tsbuildinfo)$/.test(path)).map(({ path }) => path),
        [],
      )
      return `${(bytes / MEGABYTE).toFixed(1)} MB of ${folders.size} packages`
    },
  ],
  [
    'has no history of a shell, no leftovers of the build, and no file that changes the user',
    async ({ root }) => {
      const find = async (...expression: string[]) =>
        (await run('find', [root, '-xdev', ...expression, '-printf', '/%P\n'])).stdout.split('\n').filter(Boolean)
      assert.deepEqual(await find('-name', '.*_history'), [])
      assert.deepEqual(await readdir(join(root, 'root')), [])
      assert.deepEqual(await readdir(join(root, 'tmp')), [])
      for (const path of ['/var/log', '/var/cache', '/var/lib/apt/lists'])
        assert.deepEqual((await find('-type', 'f', '-path', `${root}${path}/*`)).slice(0, 3), [])
      assert.deepEqual(await find('-type', 'f', '-perm', '/6000'), [])
      assert.deepEqual(await find('-name', '.npmrc', '-o', '-name', 'authorities.pem', '-o', '-name', '.git'), [])
      // What everybody may write: the usual folders for temporary files alone.
      const open = await find('-perm', '-0002', '!', '-type', 'l', '!', '-type', 'c')
      assert.deepEqual(
        open.filter((path) => !['/tmp', '/var/tmp', '/run/lock'].includes(path)),
        [],
      )
      return 'clean'
    },
  ],
  [
    'leaves its process no capability and no place to write',
    async (image) => {
      const script = [
        'for path in / /app /app/src /etc /usr/local/bin /root; do',
        '  if (: > "$path/written") 2>/dev/null; then echo "wrote $path"; fi',
        'done',
        'echo ok > /tmp/written && grep -E "^(Uid|Gid|Groups|Cap...|NoNewPrivs):" /proc/self/status',
      ].join('\n')
      const { command, args, env } = await inImage(image, { program: ['sh', '-c', script], env: {} })
      const { stdout } = await run(command, args, { env })
      const status = Object.fromEntries(stdout.split('\n').map((line) => line.split(/:\s*/)))
      const [uid, gid] = image.config.User.split(':')
      assert.equal(status.Uid, [uid, uid, uid, uid].join('\t'))
      assert.equal(status.Gid, [gid, gid, gid, gid].join('\t'))
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
        assert.match(status[set] ?? '', /^0+$/, `${set} is not empty`)
      assert.equal(status.NoNewPrivs, '1')
      assert.doesNotMatch(stdout, /wrote/)
      return `user ${uid}, no capabilities, read-only root`
    },
  ],
]

/** Lists the regular files below a folder with their sizes in bytes. */
async function filesBelow(folder: string): Promise<{ path: string; size: number }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files: { path: string; size: number }[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    files.push({ path: path.slice(folder.length + 1), size: (await lstat(path)).size })
  }
  return files
}

/** Checks `--check-config` of an image of the core: with a configuration that is complete, and with one that is not. */
export async function configurationIsChecked(image: OpenImage, variables: Record<string, string>): Promise<string> {
  const check = async (env: Record<string, string>) => {
    const started = await inImage(image, { args: ['--check-config'], env })
    return run(started.command, started.args, { env: started.env }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error) => ({ code: Number(error.code), stdout: String(error.stdout) }),
    )
  }
  const good = await check(variables)
  assert.equal(good.code, 0, good.stdout)
  assert.match(good.stdout, /^# configuration file found\n/)
  assert.match(good.stdout, /^ {2}git_folder: \/git$/m)
  for (const secret of Object.values(variables).filter((value) => value.startsWith('secret-')))
    assert.ok(!good.stdout.includes(secret), 'a secret is printed')
  const bad = await check({ ...variables, PLATFORM_SQL_DATABASE_URL: '' })
  assert.equal(bad.code, 1)
  assert.match(bad.stdout, /Missing env variable for platform database/)
  return 'code 0 and masked secrets; code 1 and the missing variable'
}

/** Compares two builds of a target layer by layer. */
export async function sameLayers(first: OpenImage, second: OpenImage): Promise<string> {
  assert.ok(first.layers.length > 1)
  assert.deepEqual(second.layers, first.layers)
  return `${first.layers.length} layers, each the same`
}
