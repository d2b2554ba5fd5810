import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { UsageError } from '../dev/command.ts'
import { findOnPath } from '../sidecars/iac/engine/find.ts'
import { waitUnlessAborted } from '../src/base/time.ts'

export type Emulator = Awaited<ReturnType<typeof startEmulator>>

/**
 * Starts moto, which answers as AWS does what a plan looks up: zones, images, the account. It is empty except for public
 * images, and listens on the loopback address. Errors: `UsageError` where it is not installed; it ends at once.
 * @param folder for its list of images
 */
export async function startEmulator(folder: string, signal: AbortSignal) {
  const { PATH = '' } = process.env
  const program = await findOnPath('moto_server', PATH)
  if (program === null) throw new UsageError("--emulate aws needs moto_server on PATH: pip install 'moto[server]'")
  const images = join(folder, 'emulated-images.json')
  await mkdir(folder, { recursive: true })
  await writeFile(images, JSON.stringify(IMAGES.map(imageOf)))
  const child = spawn(program, ['--host', '127.0.0.1', '--port', '0'], {
    env: { PATH, HOME: folder, MOTO_AMIS_PATH: images },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  })
  const ended = once(child, 'close').then(([code]) => Promise.reject(new Error(`${program} ended (${code})`)))
  const close = async () => {
    child.kill('SIGTERM')
    await ended.catch(() => {})
  }
  try {
    const listening = new Promise<string>((resolve) => {
      createInterface({ input: child.stderr }).on('line', (line) => {
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
        if (url) resolve(url)
      })
    })
    return {
      url: await waitUnlessAborted(Promise.race([listening, ended]), signal),
      /** Rejects when it has ended. */
      ended,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Public images by the names that their owners give them. Of Ubuntu, moto has none after 16.04 by itself. */
const IMAGES: readonly [owner: string, name: string, architecture?: string][] = [
  ['099720109477', 'ubuntu/images/hvm-ssd/ubuntu-focal-20.04-amd64-server-20250603'],
  ['099720109477', 'ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20250603'],
  ['099720109477', 'ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20250603'],
  ['099720109477', 'ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-arm64-server-20250603', 'arm64'],
  ['137112412989', 'amzn-ami-hvm-2018.03.0.20231218.0-x86_64-gp2'],
  ['137112412989', 'amzn2-ami-hvm-2.0.20250603.0-x86_64-gp2'],
  ['137112412989', 'amzn2-ami-kernel-5.10-hvm-2.0.20250603.0-x86_64-gp2'],
  ['137112412989', 'amzn2-ami-hvm-2.0.20250603.0-arm64-gp2', 'arm64'],
  ['137112412989', 'al2023-ami-2023.7.20250527.1-kernel-6.1-x86_64'],
  ['137112412989', 'al2023-ami-2023.7.20250527.1-kernel-6.1-arm64', 'arm64'],
  ['591542846629', 'amzn2-ami-ecs-hvm-2.0.20250603-x86_64-ebs'],
  ['602401143452', 'amazon-eks-node-1.30-v20250519'],
  ['801119661308', 'Windows_Server-2022-English-Full-Base-2025.05.15'],
  ['309956199498', 'RHEL-9.5.0_HVM-20250313-x86_64-0-Hourly2-GP3'],
  ['136693071363', 'debian-12-amd64-20250530-2128'],
]

const imageOf = ([owner_id, name, architecture = 'x86_64']: (typeof IMAGES)[number], index: number) => ({
  ami_id: `ami-${String(index + 1).padStart(17, '0')}`,
  ...{ name, owner_id, architecture, description: name, image_location: `${owner_id}/${name}` },
  ...{ state: 'available', public: true, image_type: 'machine', hypervisor: 'xen', virtualization_type: 'hvm' },
  ...{ root_device_type: 'ebs', root_device_name: '/dev/xvda', sriov: 'simple' },
})
