import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tools } from '../part.ts'
import { installProvider } from '../tools/providers.ts'
import { SERVICES } from './services.ts'
import { keepServices } from './trim.ts'

/** Of the provider for AWS. */
export const PROVIDER = '5.73.0'

/**
 * Puts the provider into the mirror: the release, from the registry; where that cannot be reached, built from a public
 * copy of its source (the commit of a fork, three days before the release) with the services that the checks use.
 * @returns the mirror, and a remark for the table: how many services a built one has
 * @throws Unavailable
 */
export async function installAwsProvider(tools: Tools): Promise<{ mirror: string; note: string }> {
  const services = join(tools.cache, `terraform-provider-aws-${PROVIDER}`, 'services.txt')
  const has = await keptServices(services)
  if (has.length > 0 && SERVICES.some((name) => !has.includes(name))) {
    tools.say('the provider that was built lacks services that the checks use now')
    await drop(tools.cache)
  }
  const mirror = await installProvider(
    {
      name: 'aws',
      version: PROVIDER,
      source: {
        module: 'github.com/upbound/terraform-provider-aws',
        version: 'v0.0.0-20241030110634-947d82e10dea',
        sum: {
          zip: 'h1:fCIWI3X1wMTJj+TRT73R24lJiUr6f9NziJopRla43qY=',
          mod: 'h1:kfVfff4V6sJ9334xo8IGXujnopyDIqb7TjB4bVDJFH0=',
        },
      },
      minutes: 120,
      build: {
        ldflags: `-X github.com/hashicorp/terraform-provider-aws/version.ProviderVersion=${PROVIDER}`,
        // Without optimization it is built in half the time; what it answers is the same.
        gcflags: '-N -l',
        prepare: async (source) => {
          const kept = await keepServices(source, SERVICES)
          await rewrite(join(source, 'go.mod'), withoutSettings)
          await mkdir(join(services, '..'), { recursive: true })
          await writeFile(services, `${kept.join('\n')}\n`)
        },
      },
    },
    tools,
  )
  const kept = await keptServices(services)
  return { mirror, note: kept.length > 0 ? ` (from source, ${kept.length} services)` : '' }
}

/** The services of a provider that was built; none for one from a registry. */
const keptServices = async (path: string): Promise<string[]> =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')

/** Removes the provider as it was built. */
async function drop(cache: string): Promise<void> {
  const mirror = join(cache, 'providers')
  const places = (await readdir(mirror)).map((host) => join(mirror, host, 'hashicorp/aws', PROVIDER))
  for (const folder of [...places, join(cache, `terraform-provider-aws-${PROVIDER}`)])
    await rm(folder, { recursive: true, force: true })
}

/** Without settings of the run time of Go, which a later Go refuses when it no longer knows them. */
const withoutSettings = (text: string) => text.replaceAll(/^godebug .*\n/gm, '')

async function rewrite(path: string, change: (text: string) => string): Promise<void> {
  const text = change(await readFile(path, 'utf8'))
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}
