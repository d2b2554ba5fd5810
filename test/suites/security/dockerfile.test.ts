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
const all = (name: string) => instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest)

attack(GROUP, 'a base image that somebody replaces under its name', async () => {
  const { devDependencies } = JSON.parse(await readShipped('package.json')) as { devDependencies: { node: string } }
  expect(all('FROM')).toEqual([
    expect.stringMatching(/^\$\{ENGINE_IMAGE\} AS engine$/),
    `node:${devDependencies.node}-bookworm-slim AS dependencies`,
    `node:${devDependencies.node}-bookworm-slim AS console`,
    `node:${devDependencies.node}-bookworm-slim`,
  ])
  expect(all('ARG').filter((argument) => argument.startsWith('ENGINE_IMAGE'))).toEqual([
    expect.stringMatching(/^ENGINE_IMAGE=[a-z/]+:\d+\.\d+\.\d+$/),
  ])
  return `node ${devDependencies.node}, the release that the tests run on, and an engine of full version`
})

attack(GROUP, 'a process of the image that is root', async () => {
  expect(all('USER')).toEqual(['10001:10000'])
  const users = [...dockerfile.matchAll(/\b(core|worker|iac|sidecar):(\d+)/g)].map(([, name, id]) => `${name} ${id}`)
  expect(users).toEqual(['core 10001', 'worker 10002', 'iac 10003', 'sidecar 10004'])
  return 'the image starts as user 10001; every process has one of its own'
})

attack(GROUP, 'a folder of the image that a process may write and another one reads', async () => {
  const folders = [...dockerfile.matchAll(/install --directory --owner=(\w+) --group=(\w+) --mode=(\d+) (\S+)/g)]
  expect(folders.map(([, owner, group, mode, path]) => `${path} ${owner}:${group} ${mode}`)).toEqual([
    '/workspaces worker:platform 2770',
    '/git worker:platform 0700',
    '/data iac:platform 0700',
    '/roles sidecar:platform 0700',
  ])
  // A volume of the image would be a folder that every container may write, whatever compose.yaml mounts.
  expect(all('VOLUME')).toEqual([])
  return 'only /workspaces is open to the group'
})

test('of the console the image has the built files alone, and no packages that only build it', () => {
  expect(all('RUN').filter((line) => line.startsWith('npm'))).toEqual([
    'npm ci --omit=dev --no-audit --no-fund',
    'npm ci --ignore-scripts --no-audit --no-fund',
  ])
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
  const copied = last.filter(({ name, rest }) => name === 'COPY' && /console|node_modules/.test(rest))
  expect(copied.map(({ rest }) => rest)).toEqual([
    '--from=dependencies /app/node_modules node_modules',
    '--from=console /app/console/dist console/dist',
  ])
})

test('the image can be built with either engine, in the release that the tests run on', async () => {
  expect(all('ARG')).toEqual(expect.arrayContaining(['ENGINE_PATH=/bin/terraform', 'ENGINE_PATH']))
  expect(all('COPY').filter((line) => /^--from=engine \$\{ENGINE_PATH\} \/usr\/local\/bin\/$/.test(line))).toHaveLength(
    1,
  )
  expect(await readShipped('Dockerfile')).toContain(
    `--build-arg ENGINE_IMAGE=ghcr.io/opentofu/opentofu:${OPENTOFU}-minimal --build-arg ENGINE_PATH=/usr/local/bin/tofu\n`,
  )
})

test('the image has what the sandbox of engine commands needs', () => {
  const packages = all('RUN').find((line) => line.includes('apt-get install')) ?? ''
  for (const name of ['bubblewrap', 'passt', 'iproute2', 'util-linux']) expect(packages).toContain(` ${name} `)
})

test('the shipped file names the folder of the image for git directories', async () => {
  const [, pattern = '', replacement = ''] = /sed 's\|([^|]+)\|([^|]+)\|'/.exec(dockerfile) ?? []
  const file = (await readShipped('config/platform.yaml')).replace(new RegExp(pattern, 'm'), replacement)
  const line = file.split('\n').find((text) => text.startsWith('  git_folder:'))
  expect(line ?? replacement).toContain('  git_folder: /git')
})
