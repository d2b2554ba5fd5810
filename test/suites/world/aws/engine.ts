import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ANY_KEYS, REGION } from './call.ts'

const run = promisify(execFile)

/** The end of an engine's command. */
export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** An engine beside the platform, in a folder of its own. */
export interface Engine {
  folder: string
  /** Writes a file of the code. */
  write(name: string, content: string | Uint8Array): Promise<void>
  /** Never throws for a command that fails. */
  run(...args: string[]): Promise<Ended>
  /** Throws with its output when it fails. */
  must(...args: string[]): Promise<string>
}

export const mirror = process.env.WORLD_AWS_MIRROR ?? ''

/**
 * The limit of a check that runs the engine. It ends what hangs, and decides nothing else: each command starts the
 * provider, which takes a minute and more on a machine that is busy.
 */
export const HANGS_MS = 7_200_000

/** The provider's block, for moto: buckets in paths, since no name leads to a bucket's host there. */
export const PROVIDER_BLOCK = `provider "aws" {
  region                      = "${REGION}"
  s3_use_path_style           = true
  skip_metadata_api_check     = true
  skip_credentials_validation = true
}
`

export const versionsOf = (version: string) =>
  `terraform {\n  required_providers {\n    aws = {\n      source  = "hashicorp/aws"\n      version = "${version}"\n    }\n  }\n}\n`

/** The settings with which an engine and its provider use moto. */
export const awsEnvironment = (url: string): Record<string, string> => ({
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: ANY_KEYS.access_key,
  AWS_SECRET_ACCESS_KEY: ANY_KEYS.secret_key,
  AWS_ENDPOINT_URL: url,
})

/** @param plugins the folder of the unpacked provider, which several folders share */
export async function createEngine(folder: string, env: Record<string, string>): Promise<Engine> {
  await mkdir(folder, { recursive: true })
  const config = join(folder, 'engine.tfrc')
  await writeFile(
    config,
    `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}\n  }\n}\n`,
  )
  const options = {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TF_CLI_CONFIG_FILE: config, CHECKPOINT_DISABLE: '1', ...env },
    maxBuffer: 512 * 1024 * 1024,
  }
  const once = (args: string[]): Promise<Ended> =>
    run('terraform', [...args, ...(args[0] === 'show' ? [] : ['-no-color'])], options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code = 1, stdout = '', stderr = '' }) => ({ code: Number(code), stdout, stderr }),
    )
  return {
    folder,
    write: (name, content) => writeFile(join(folder, name), content),
    run: (...args) => once(args),
    must: async (...args) => {
      const { code, stdout, stderr } = await once(args)
      if (code !== 0) throw new Error(`${args.join(' ')}: ${code}\n${stdout.slice(-4_000)}\n${stderr.slice(-8_000)}`)
      return stdout
    },
  }
}
