import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, lstat, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { childrenOf } from '../../../src/runtime/process-identity.ts'
import { eventually } from '../../helpers/eventually.ts'
import { startLogging } from '../../helpers/logging-process.ts'
import { clientOf, SCOPE, startTestService, TOKEN, temporaryFolder } from '../../sidecars/iac/service.ts'
import { attackSandbox, attackService, BOXED, runHostile } from './sandboxed.ts'

const LIMITED = { ...BOXED, IAC_ALLOW_HOST_PROGRAMS: 'true' }
const MEMORY = 'memory and processes of an engine'
const DISK = 'disk of an engine'
const END = 'the end of an engine'

/** Plans this configuration with little memory. Returns the text of the job. */
async function planWithin(memoryMib: string, configuration: string): Promise<string> {
  const service = await startTestService({ ...LIMITED, IAC_MAX_MEMORY_MIB: memoryMib })
  try {
    const path = await service.workspace({ 'main.tf': configuration })
    await service.run('/v1/init', { workspace_path: path, ...SCOPE })
    const plan = await service.run('/v1/plan', { workspace_path: path, ...SCOPE, plan_file: 'session.plan' })
    expect(plan.status).toBe('failed')
    return plan.error.detail
  } finally {
    await service.close()
  }
}

attackSandbox(MEMORY, 'a product of sets that grows without end', async () => {
  const numbers = '["0","1","2","3","4","5","6","7","8","9"]'
  const product = `setproduct(${Array.from({ length: 7 }, () => numbers).join(', ')})`
  const text = await planWithin('300', `output "x" {\n  value = length(${product})\n}\n`)
  expect(text).toContain('IAC_MAX_MEMORY_MIB')
  return text
})

attackSandbox(MEMORY, 'a file without an end', async () => {
  const text = await planWithin('300', 'output "x" {\n  value = length(filebase64(join("", ["/de", "v/zero"])))\n}\n')
  expect(text).toContain('IAC_MAX_MEMORY_MIB')
  return text
})

attackService(MEMORY, 'a program that fills the memory', { IAC_MAX_MEMORY_MIB: '300' }, async (service) => {
  const { output, apply } = await runHostile(
    service,
    'perl -e \'my $x = "x" x 900_000_000; print length($x)\'; echo end',
  )
  expect(output).not.toContain('900000000')
  return apply.error?.detail ?? output.split('\n').find((line) => /memory|Killed/i.test(line)) ?? 'killed by the kernel'
})

attackService(MEMORY, 'a program that starts processes without end', { IAC_MAX_PROCESSES: '80' }, async (service) => {
  const script = 'n=0; while [ $n -lt 300 ]; do sleep 5 & n=$((n+1)); done; echo started $n'
  const { output, apply } = await runHostile(service, script)
  expect(output).not.toContain('started 300')
  return `${output.split('\n').find((line) => /fork/i.test(line)) ?? apply.status}`
})

attackService(
  DISK,
  'a file and a folder that grow until the disk is full',
  { IAC_MAX_WORKSPACE_MIB: '40' },
  async (service) => {
    const { output } = await runHostile(service, 'dd if=/dev/zero of=large bs=1M count=200; ls -l large')
    expect(Number(/ (\d+) \w+ +\d+ [\d:]+ large/.exec(output)?.[1] ?? 0)).toBeLessThanOrEqual(40 * 1024 ** 2)
    const script =
      'n=0; while [ $n -lt 60 ]; do dd if=/dev/zero of=$TMPDIR/part$n bs=1M count=2 2> /dev/null; n=$((n+1)); sleep 0.1; done; echo filled'
    const many = await runHostile(service, script)
    expect(many.output).not.toContain('filled')
    expect(many.apply.error.detail).toContain('IAC_MAX_WORKSPACE_MIB')
    return many.apply.error.detail
  },
)

attackService(DISK, 'folders of memory inside the sandbox', {}, async (service) => {
  const script =
    'for d in / /dev /dev/shm /run /home /etc; do dd if=/dev/zero of=$d/fill bs=1M count=1 2> /dev/null && echo FILLED $d; done; echo end'
  const { output } = await runHostile(service, script)
  expect(output).toContain('end')
  expect(output).not.toContain('FILLED')
  return 'read-only, but for the workspace and the temporary folder'
})

attackService(DISK, 'links by which the service gives a file of the machine away', {}, async (service) => {
  const outside = await temporaryFolder()
  const target = join(outside, 'target')
  await writeFile(target, 'mine')
  await chmod(target, 0o600)
  const path = await service.workspace({ 'main.tf': 'output "x" {\n  value = 1\n}\n' })
  await symlink(target, join(path, 'link'))
  await symlink(outside, join(path, 'folder'))
  const before = await lstat(target)
  await service.run('/v1/init', { workspace_path: path, ...SCOPE })
  const after = await lstat(target)
  expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode])
  expect((await lstat(outside)).uid).toBe(before.uid)
  return 'links are not followed when a workspace is handed over'
})

attackSandbox(END, 'the service is killed during a plan', async () => {
  const folder = await temporaryFolder()
  const engine = join(folder, 'engine')
  await writeFile(engine, '#!/bin/sh\nif [ "$1" = plan ]; then sleep 161803; fi\necho "Fake v1.0.0"\n')
  await chmod(engine, 0o755)
  const { client, kill, pid } = await startProcess(folder, engine)
  const path = await client.workspace({ 'main.tf': '' })
  await client.submit('/v1/plan', { workspace_path: path, ...SCOPE, plan_file: 'session.plan' })
  await eventually(() => expect(running('sleep 161803')).toBe(true))
  const namespaces = childrenOf(pid).filter((child) => commandOf(child).includes('pasta'))
  // That of the command, and one that is open ahead.
  expect(namespaces).toHaveLength(2)
  kill()
  await eventually(() => expect(running('sleep 161803')).toBe(false))
  await eventually(() => expect(namespaces.map(commandOf)).toEqual(['', '']))
  return 'the kernel ends the sandbox with its parent, and the network namespaces end with the service'
})

attackSandbox(END, 'the service is killed during an apply, and nothing is lost', async () => {
  const folder = await temporaryFolder()
  const { client, kill } = await startProcess(folder, '')
  const configuration =
    'resource "terraform_data" "first" {}\nresource "terraform_data" "second" {\n  depends_on = [terraform_data.first]\n' +
    '  provisioner "local-exec" {\n    command = "sleep 141421"\n  }\n}\n'
  const path = await client.workspace({ 'main.tf': configuration })
  await client.run('/v1/init', { workspace_path: path, ...SCOPE })
  await client.run('/v1/plan', { workspace_path: path, ...SCOPE, plan_file: 'session.plan' })
  await client.submit('/v1/apply', { workspace_path: path, ...SCOPE, plan_file: 'session.plan' })
  await eventually(() => expect(running('sleep 141421')).toBe(true))
  kill()
  await eventually(() => expect(running('sleep 141421')).toBe(false))
  await eventually(() => expect(lstat(join(path, '.terraform.tfstate.lock.info'))).rejects.toThrow('ENOENT'))
  const state = await readFile(join(path, 'terraform.tfstate'), 'utf8')
  expect(JSON.parse(state).resources.map(({ name }: { name: string }) => name)).toContain('first')
  return 'the engine is interrupted, writes its state, gives back the lock and ends'
})

/** Returns the command line of a process; empty when it has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** True if a process with this in its command line runs on the machine. */
function running(text: string): boolean {
  const lines = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n')
  return lines.some((line) => line.includes(text) && !line.startsWith('ps '))
}

async function startProcess(folder: string, binary: string) {
  const sidecar = startLogging(['sidecars/main.ts', 'iac'], {
    ...LIMITED,
    HOME: folder,
    PLATFORM_PORT: '0',
    PLATFORM_HOST: '127.0.0.1',
    PLATFORM_IAC_TOKEN: TOKEN,
    IAC_BINARY: binary,
    IAC_DATA_DIR: join(folder, 'data'),
  })
  const { url } = await sidecar.said('iac service ready')
  const { pid = 0 } = sidecar.child
  return { client: await clientOf(String(url), folder), kill: () => sidecar.child.kill('SIGKILL'), pid }
}
