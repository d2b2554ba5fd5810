import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildTarget, makeBases, TARGETS, type TargetName } from './bases.ts'
import { configurationIsChecked, IMAGE_CHECKS, sameLayers } from './checks.ts'
import { type OpenImage, openImage } from './container.ts'
import { demoPasses, healthIsChecked, type Running, serves, startFromImages, stopsInOrder } from './platform.ts'
import { missing, openWorkshop, ROOT, type Workshop } from './tools.ts'

const HELP = `Usage: npm run test:image [-- --if-possible] [--folder <dir>]

Builds all images without a container engine, on base images made here, checks them, runs the platform from them and
the demo through it. With --if-possible a machine that cannot do it is no failure. With
--folder the built layers stay there, and the next run with it takes what has not changed.`

let [passed, failed] = [0, 0]
const began = performance.now()

/** Runs one check and prints its outcome. A failed one does not stop the others. */
async function check(name: string, work: () => Promise<string>): Promise<void> {
  try {
    const said = await work()
    passed++
    console.log(`${seconds()}  passed  ${name}: ${said}`)
  } catch (error) {
    failed++
    console.log(`${seconds()}  FAILED  ${name}\n${error instanceof Error ? error.message : error}`)
  }
}

const seconds = () => `${Math.round((performance.now() - began) / 1000)} s`.padStart(6)

async function buildAll(workshop: Workshop): Promise<Record<TargetName, OpenImage>> {
  await makeBases(workshop)
  console.log(`${seconds()}  base images made`)
  const images: Partial<Record<TargetName, OpenImage>> = {}
  for (const target of TARGETS) {
    images[target] = await openImage(workshop, await buildTarget(workshop, target))
    console.log(`${seconds()}  ${target} built`)
  }
  return images as Record<TargetName, OpenImage>
}

/** Copies what a build sends, so that all its files are newer than in the first build. */
async function copyOfContext({ folder }: Workshop): Promise<string> {
  const copy = join(folder, 'context')
  const ignored = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n')
  await mkdir(copy)
  for (const entry of [
    ...ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1)),
    'Dockerfile',
    '.dockerignore',
  ])
    await cp(join(ROOT, entry), join(copy, entry), { recursive: true })
  return copy
}

async function runPlatform(images: Record<TargetName, OpenImage>, folder: string): Promise<void> {
  let running: Running | null = null
  await check('core, worker and iac start from their images', async () => {
    running = await startFromImages(images, join(folder, 'stack'))
    return `engine ${running.stack.engine.name} ${running.stack.engine.version} in ${running.stack.engine.sandbox}`
  })
  if (running === null) return
  const { stack, core, folder: data } = running as Running
  try {
    await check('the demo passes through them', () => demoPasses(running as Running))
    await check('core: health check', async () => {
      await healthIsChecked(images.core, { PLATFORM_PORT: new URL(stack.url).port })
      return 'code 0 beside the core, 1 beside none'
    })
    for (const target of ['core', 'core-deno', 'core-bun'] as const)
      await check(`${target}: a further core on the same stores`, () =>
        serves(images[target], { env: { ...core }, path: '/readyz', mounts: { read: [data], write: [] } }),
      )
    for (const name of ['authz', 'mapping', 'notifications'])
      await check(`sidecars: ${name}`, () =>
        serves(images.sidecars, {
          args: [name],
          env: {
            [`PLATFORM_${name.toUpperCase()}_TOKEN`]: 'token-of-the-test',
            PLATFORM_AUTHZ_ROLE_STORE: '/tmp/roles.json',
            CHAT_WEBHOOK_URL: 'https://chat.example.com/hook',
          },
          path: '/healthz',
        }),
      )
  } finally {
    await check('SIGTERM stops core and worker, then iac', () => stopsInOrder(running as Running))
  }
}

async function main(kept: string | undefined): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-image-'))
  const workshop = await openWorkshop(folder, kept ?? join(folder, 'images'))
  try {
    const images = await buildAll(workshop)
    for (const target of TARGETS)
      for (const [name, run] of IMAGE_CHECKS) await check(`${target}: ${name}`, () => run(images[target], target))
    await check('core: --check-config', () =>
      configurationIsChecked(images.core, {
        PLATFORM_SQL_DATABASE_URL: 'postgresql://platform:secret-of-the-database@localhost/platform',
        PLATFORM_IAC_TOKEN: 'secret-of-the-sidecar',
        BUNDLED_ACCESS_KEY: 'access',
        BUNDLED_SECRET_KEY: 'secret-of-the-store',
        ...{ ANTHROPIC_API_KEY: 'secret-of-the-model', VERTEXAI_PROJECT: 'project', VERTEXAI_LOCATION: 'europe' },
      }),
    )
    const again = check('core: built again from newer files', async () => {
      const context = await copyOfContext(workshop)
      return sameLayers(
        images.core,
        await openImage(workshop, await buildTarget(workshop, 'core', { context, again: true })),
      )
    })
    await runPlatform(images, folder)
    await again
    console.log(`\n${passed} passed, ${failed} failed, ${seconds().trim()}`)
    return failed === 0 ? 0 : 1
  } finally {
    await workshop.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const { values } = parseArgs({
  options: { 'if-possible': { type: 'boolean' }, folder: { type: 'string' }, help: { type: 'boolean' } },
})
const reason = await missing()
if (values.help) console.log(HELP)
else if (reason !== null) {
  console.log(`SKIPPED: the images were not built, because ${reason}.`)
  process.exitCode = values['if-possible'] ? 0 : 1
} else process.exit(await main(values.folder))
