import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { SCOPE, startTestService, type TestService, temporaryFolder } from '../../sidecars/iac/service.ts'
import { attackSandbox, BOXED, HAS_SANDBOX, runHostile } from './sandboxed.ts'

const CLOUD_SECRET = 'cloud-secret-of-this-job-4711'
const OTHER_SECRET = 'secret-of-another-cloud-0815'
const REGISTRY_SECRET = 'registry-token-of-nobody-2342'

let service: TestService
let outside: string

beforeAll(async () => {
  if (!HAS_SANDBOX) return
  outside = await temporaryFolder()
  await writeFile(join(outside, 'secret.txt'), 'secret-of-the-machine')
  await writeFile(join(outside, 'aws'), '[default]\n', { mode: 0o600 })
  await writeFile(join(outside, 'azure'), 'certificate', { mode: 0o600 })
  service = await startTestService({
    ...BOXED,
    AWS_SHARED_CREDENTIALS_FILE: join(outside, 'aws'),
    ARM_CLIENT_CERTIFICATE_PATH: join(outside, 'azure'),
    IAC_ALLOW_HOST_PROGRAMS: 'true',
    AWS_SECRET_ACCESS_KEY: CLOUD_SECRET,
    ARM_CLIENT_SECRET: OTHER_SECRET,
    TF_TOKEN_registry_example_com: REGISTRY_SECRET,
    SOME_PASSWORD: 'password-of-the-operator',
  })
})
afterAll(() => service?.close())

const program = (
  title: string,
  script: () => string,
  check: (output: string, workspace: string) => Promise<string> | string,
) =>
  attackSandbox('the machine, from inside the sandbox', title, async () => {
    const { output, workspace } = await runHostile(service, script())
    return await check(output, workspace)
  })

program(
  'a program reads a file of the machine',
  () => `cat ${outside}/secret.txt; ls ${outside}; ls /root /home/* /etc/shadow /var /opt; echo end`,
  (output) => {
    expect(output).toContain('No such file')
    expect(output).not.toContain('secret-of-the-machine')
    expect(output).not.toContain('secret.txt\n')
    return output.split('\n')[1] ?? ''
  },
)

program(
  'a program reads the service: its data folder, jobs, records and the other workspaces',
  () => `ls -la ${service.folder}/data ${service.folder}/data/jobs; ls ${service.folder}; echo end`,
  (output, workspace) => {
    const shown = output.split('\n')
    expect(shown.filter((line) => /\.json|\.stdout|service\.json/.test(line))).toEqual([])
    expect(shown.filter((line) => line.startsWith('workspace-'))).toEqual([workspace.split('/').at(-1)])
    return 'the sandbox shows the one workspace, and of the data folder the plugin cache alone'
  },
)

program(
  'a program looks for tokens in its environment and in that of every process',
  () => `env; for p in /proc/[0-9]*; do cat $p/environ; done; echo end`,
  (output) => {
    expect(output).toContain('end')
    for (const secret of [OTHER_SECRET, REGISTRY_SECRET, 'password-of-the-operator', 'token-of-the-service'])
      expect(output).not.toContain(secret)
    expect(output).not.toMatch(/PLATFORM_|IAC_DATA_DIR/)
    return 'the environment is built from a list: this cloud, proxies, settings of the engine'
  },
)

program(
  'a program sees, stops or traces processes of the machine',
  () => `echo processes $(ls -d /proc/[0-9]* | wc -l); kill -9 ${process.pid} && echo killed; kill -9 -1; echo end`,
  (output) => {
    const count = Number(/processes (\d+)/.exec(output)?.[1])
    expect(count).toBeLessThan(20)
    expect(output).not.toContain('killed')
    return `its own process namespace holds ${count} processes, none of them the machine's`
  },
)

program(
  'a program makes the kernel run another one: core_pattern, sysctl, sysrq',
  () =>
    'for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/vm/drop_caches; do echo x > $f && echo WROTE $f; done; echo end',
  async (output) => {
    expect(output).toContain('end')
    expect(output).not.toContain('WROTE')
    expect((await readFile('/proc/sys/kernel/core_pattern', 'utf8')).trim()).not.toBe('x')
    return output.split('\n')[1] ?? ''
  },
)

program(
  'a program gains rights: mounts, user namespaces, capabilities, set-user-id programs',
  () =>
    'mount -t tmpfs none /mnt && echo MOUNTED; unshare -Ur true && echo UNSHARED; su -c true && echo SU; ' +
    'grep -E "^(CapEff|CapPrm|NoNewPrivs|Uid)" /proc/self/status',
  (output) => {
    expect(output).not.toMatch(/MOUNTED|UNSHARED|^SU/m)
    expect(output).toMatch(/CapPrm:\s+0+$/m)
    expect(output).toMatch(/CapEff:\s+0+$/m)
    expect(output).toMatch(/NoNewPrivs:\s+1/)
    expect(output).not.toMatch(/Uid:\s+0\b/)
    return 'no capability, no new privileges, no further user namespace, a user of its own'
  },
)

program(
  'a program changes the engine, the plugin cache, the system',
  () =>
    `for d in /engine ${service.folder}/data/plugins /usr/bin /etc / /dev /home; do touch $d/planted && echo WROTE $d; done; ` +
    'chmod u+rw /engine/* && echo CHANGED; cat /engine/* > copy && echo COPIED; echo end',
  (output) => {
    expect(output).toContain('end')
    expect(output).not.toMatch(/WROTE|CHANGED|COPIED/)
    return 'read-only mounts; the engine can be run and not read'
  },
)

program(
  'a program reads the credential files of another cloud',
  () => `cat ${outside}/aws; cat ${outside}/azure; echo changed >> ${outside}/aws && echo WROTE; echo end`,
  (output) => {
    expect(output).toContain('[default]')
    expect(output).not.toContain('certificate')
    expect(output).not.toContain('WROTE')
    return 'files that variables of this cloud name can be read, no others'
  },
)

program(
  'a program leaves something on the machine in /tmp or in its home',
  () => 'touch /tmp/planted-by-hostile-code $HOME/planted && echo wrote; echo end',
  async (output) => {
    expect(output).toContain('wrote')
    await expect(stat('/tmp/planted-by-hostile-code')).rejects.toThrow('ENOENT')
    await expect(stat(join(service.folder, 'planted'))).rejects.toThrow('ENOENT')
    return 'both are folders of this command alone, removed with it'
  },
)

program(
  'a program outlives its job',
  () => '(setsid sleep 271828 > /dev/null 2>&1 &) ; (nohup sleep 271828 > /dev/null 2>&1 &); echo end',
  async () => {
    expect(await isRunning('sleep 271828')).toBe(false)
    return 'all processes of the sandbox end with the engine, which is process 1 of them'
  },
)

attackSandbox(
  'the machine, from inside the sandbox',
  'a program changes the rest of its clone, and the git folder of a direct caller',
  async () => {
    const clone = await service.workspace({
      '.platform-workspace': '',
      'modules/a/main.tf': '# mine',
      '.git/config': '[core]\n',
    })
    const script =
      'echo evil > ../modules/a/main.tf && echo WROTE; echo evil >> ../.git/config && echo WROTE; cat ../modules/a/main.tf'
    const { output } = await runHostile(service, script, { workspace: join(clone, 'live') })
    expect(output).toContain('# mine')
    expect(output).not.toContain('WROTE')
    expect(await readFile(join(clone, '.git/config'), 'utf8')).toBe('[core]\n')
    return 'the clone around the workspace can be read and not written, its git folder is hidden'
  },
)

const LOOKS: [title: string, expression: string][] = [
  ['its own environment through /proc', 'try(file(join("", ["/pro", "c/self/environ"])), "denied")'],
  ['its own environment, encoded', 'try(base64gzip(file(join("", ["/pro", "c/1/environ"]))), "denied")'],
  ['the environment of the thread', 'try(filebase64(join("", ["/pro", "c/thread-self/environ"])), "denied")'],
  ['the files of other sessions', 'join(",", fileset(join("/", [path.cwd, ".."]), "*/*.tf"))'],
  ['the root of the machine', 'join(",", fileset("/", "{root,var,opt,srv,work}/**"))'],
  ['password files', 'try(file(join("", ["/et", "c/shadow"])), "denied")'],
  ['a file beside the workspace through a link', 'try(file("link/secret.txt"), "denied")'],
]
for (const [title, expression] of LOOKS)
  attackSandbox('functions of the engine that read the machine', title, async () => {
    const path = await service.workspace({ 'main.tf': `output "seen" {\n  value = ${expression}\n}\n` })
    await symlink(outside, join(path, 'link'))
    await mkdir(join(service.folder, 'workspace-other'), { recursive: true })
    await writeFile(join(service.folder, 'workspace-other', 'other.tf'), '# of another session')
    const init = await service.run('/v1/init', { workspace_path: path, ...SCOPE })
    const plan = await service.run('/v1/plan', { workspace_path: path, ...SCOPE, plan_file: 'session.plan' })
    const shown = await service.run('/v1/show', { workspace_path: path, plan_file: 'session.plan' })
    const all = JSON.stringify([init, plan, shown])
    for (const secret of [CLOUD_SECRET, OTHER_SECRET, 'secret-of-the-machine', 'other.tf'])
      expect(all).not.toContain(secret)
    if (plan.result.exit_code !== 0) return plan.result.stderr
    const seen: string = JSON.parse(shown.result.stdout).output_changes.seen.after
    expect(['denied', '', 'main.tf', `${path.split('/').at(-1)}/main.tf`]).toContain(seen)
    return `the engine saw: ${seen || 'nothing'}`
  })

/** True if a process of the machine has this command line. */
async function isRunning(commandLine: string): Promise<boolean> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return lines.some((line) => line.replaceAll('\0', ' ').includes(commandLine))
}
