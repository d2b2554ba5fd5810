import { expect, test } from 'vitest'
import { OPENTOFU } from '../../../dev/engine/release.ts'
import { attack } from './attack.ts'
import { readShipped } from './shipped-files.ts'

const GROUP = 'shipped defaults: the image'
const dockerfile = (await readShipped('Dockerfile')).replaceAll(/\\\n/g, ' ')
const instructions = dockerfile
  .split('\n')
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => ({ name: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1).trim() }))
/** Returns the instructions of a stage, beginning with its FROM. */
function stage(name: string) {
  const start = instructions.findIndex((line) => line.name === 'FROM' && line.rest.endsWith(` AS ${name}`))
  const length = instructions.slice(start + 1).findIndex((line) => line.name === 'FROM')
  return instructions.slice(start, length === -1 ? undefined : start + 1 + length)
}
const TARGETS = ['core', 'core-deno', 'core-bun', 'worker', 'iac', 'sidecars']
const all = (name: string) => instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest)

attack(GROUP, 'a base image that somebody replaces under its name', async () => {
  const { devDependencies } = JSON.parse(await readShipped('package.json')) as { devDependencies: { node: string } }
  const stages = all('FROM').map((stage) => stage.replace(/^--platform=\S+ /, '').split(' AS '))
  const own = stages.map(([, name]) => name)
  const from = new Set(
    stages.flatMap(([image = '']) => (own.includes(image) ? [] : image.replace(/^\$\{(\w+)\}$/, '$1'))),
  )
  expect([...from].sort()).toEqual(['BUILD_IMAGE', 'ENGINE_IMAGE', 'NODE_IMAGE', 'scratch'])
  const [engine, base, build, ...others] = all('ARG').filter((argument) => /^\w+_IMAGE/.test(argument))
  expect(others).toEqual([])
  expect(build).toMatch(/^BUILD_IMAGE=\$\{NODE_IMAGE\}$/)
  expect(engine).toMatch(/^ENGINE_IMAGE=[a-z/]+:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/)
  expect(base?.split('@')).toEqual([
    `NODE_IMAGE=node:${devDependencies.node}-bookworm-slim`,
    expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  ])
  return `node ${devDependencies.node}, the release that the tests run on, and an engine, both by digest`
})

attack(GROUP, 'a package that runs a script of its own when it is installed', async () => {
  const { packages } = JSON.parse(await readShipped('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: boolean; dev?: boolean }>
  }
  const { allowScripts, scripts } = JSON.parse(await readShipped('package.json')) as {
    allowScripts: Record<string, boolean>
    scripts: Record<string, string>
  }
  const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  expect(Object.keys(allowScripts).sort()).toEqual([...new Set(withScript.map(([path]) => nameOf(path)))].sort())
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name])
  expect(scripts['packages:scripts']).toBe(`npm rebuild ${allowed.join(' ')}`)
  // Those of the image run none: what is allowed is needed for development alone.
  const shipped = withScript.filter(([path, { dev }]) => !dev && allowed.includes(nameOf(path)))
  expect(shipped).toEqual([])
  expect(await readShipped('.npmrc')).toMatch(/^strict-allow-scripts=true$/m)
  // It would also turn off "pretest" of "npm test", which fetches the engine.
  expect(await readShipped('.npmrc')).not.toContain('ignore-scripts')
  for (const file of ['Dockerfile', '.ci/run'])
    for (const [command] of (await readShipped(file)).matchAll(/\bnpm ci .*/g))
      expect([file, command]).toEqual([file, expect.stringContaining(' --ignore-scripts ')])
  return `${allowed.length} packages may, by name, and none in the image; npm refuses any other`
})

attack(GROUP, 'a process of the image that is root', async () => {
  const users = [...dockerfile.matchAll(/\b(core|worker|iac|sidecar):(\d+)/g)].map(([, name, id]) => `${name} ${id}`)
  expect(users).toEqual(['core 10001', 'worker 10002', 'iac 10003', 'sidecar 10004'])
  expect(TARGETS.map((name) => [name, stage(name).find((line) => line.name === 'USER')?.rest])).toEqual([
    ['core', '10001:10000'],
    ['core-deno', '10001:10000'],
    ['core-bun', '10001:10000'],
    ['worker', '10002:10000'],
    ['iac', '10003:10000'],
    ['sidecars', '10004:10000'],
  ])
  return 'every image starts as a user of its own'
})

attack(GROUP, 'a folder of the image that a process may write and another one reads', async () => {
  const folders = [...dockerfile.matchAll(/install --directory --owner=(\w+) --group=(\w+) --mode=(\d+) (\S+)/g)]
  expect(folders.map(([, owner, group, mode, path]) => `${path} ${owner}:${group} ${mode}`)).toEqual([
    '/workspaces worker:platform 2770',
    '/git worker:platform 0700',
    '/workspaces worker:platform 2770',
    '/data iac:platform 0700',
    '/roles sidecar:platform 0700',
  ])
  // A volume of the image would be a folder that every container may write, whatever compose.yaml mounts.
  expect(all('VOLUME')).toEqual([])
  return 'only /workspaces is open to the group'
})

test('the images have no lower layer, and of the build only what was assembled for them', () => {
  for (const name of TARGETS) {
    expect([name, stage(name)[0]?.rest]).toEqual([name, `image AS ${name}`])
    const copied = stage(name).filter((line) => line.name === 'COPY')
    for (const { rest } of copied)
      expect([name, rest]).toEqual([
        name,
        expect.stringMatching(
          /^--from=(system[\w-]* \/ \/|build \/out\/\S+ \S+|runtimes \/runtimes\/(deno|bun) \S+|engine \$\{ENGINE_PATH\} \S+)$/,
        ),
      ])
    expect(copied.map(({ rest }) => rest)).toContain(`--from=build /out/${name}/node_modules node_modules`)
    expect(stage(name).filter((line) => line.name === 'RUN')).toEqual([])
  }
  expect(stage('image')[0]?.rest).toBe('scratch AS image')
})

test('the image can be built with either engine, in the release that the tests run on', async () => {
  expect(all('ARG')).toEqual(expect.arrayContaining(['ENGINE_PATH=/bin/terraform', 'ENGINE_PATH']))
  expect(all('COPY').filter((line) => /^--from=engine \$\{ENGINE_PATH\} \/usr\/local\/bin\/$/.test(line))).toHaveLength(
    1,
  )
  const [, digest] = /opentofu:\S+@(sha256:[0-9a-f]{64}) /.exec(await readShipped('Dockerfile')) ?? []
  expect(await readShipped('Dockerfile')).toContain(
    `--build-arg ENGINE_IMAGE=ghcr.io/opentofu/opentofu:${OPENTOFU}-minimal@${digest} --build-arg ENGINE_PATH=/usr/local/bin/tofu\n`,
  )
})

test('the image has what the sandbox of engine commands needs', () => {
  const packages = stage('system-iac').find(({ rest }) => rest.includes('apt-get install'))?.rest ?? ''
  for (const name of ['bubblewrap', 'passt', 'iproute2', 'util-linux']) expect(packages).toContain(` ${name} `)
})

test('the shipped file names the folder of the image for git directories', async () => {
  const [, pattern = '', replacement = ''] = /sed 's\|([^|]+)\|([^|]+)\|'/.exec(dockerfile) ?? []
  const file = (await readShipped('config/platform.yaml')).replace(new RegExp(pattern, 'm'), replacement)
  const line = file.split('\n').find((text) => text.startsWith('  git_folder:'))
  expect(line ?? replacement).toContain('  git_folder: /git')
})
