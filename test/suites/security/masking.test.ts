import { expect, test } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { fakeEngine, SCOPE, startTestService, temporaryFolder } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'

const GROUP = 'encodings that pass the masking'
const SECRET = 'Zq7/very+secret~value=of the<cloud>&$x'
const KEY_LINES = Array.from(
  { length: 6 },
  (_, index) => `MIIEvQIBADANBgkqhkiG9w0BAQ${index}FAASCBKcwggSjAgEAAoIBAQD${index}`,
)
const PEM = `-----BEGIN PRIVATE KEY-----\n${KEY_LINES.join('\n')}\n-----END PRIVATE KEY-----\n`
const PASSWORD = 'proxy-passw0rd-9f2'

const service = startOnce(() =>
  startTestService({
    IAC_SANDBOX: 'none',
    ARM_CLIENT_SECRET: SECRET,
    GOOGLE_CREDENTIALS: JSON.stringify({ type: 'service_account', private_key: PEM, project_id: 'my-project' }),
    SIGNING_SECRET: PEM,
    DATABASE_URL: `postgres://app:${PASSWORD}@db.example.com/x`,
    CI_PROXY: `http://user:p%40ss-of-the-second@proxy.example.com http://u:short@proxy.example.com`,
  }),
)

/** Plans an output of this value, which reads the engine's environment. Returns everything that the service shows. */
async function told(value: string): Promise<string> {
  const code =
    'locals {\n  env  = file(join("/", ["", "proc", "self", "environ"]))\n' +
    '  list = { for v in split("\\u0000", replace(local.env, "/[^ -~\\\\n]/", "\\u0000")) : split("=", v)[0] => ' +
    'join("=", slice(split("=", v), 1, length(split("=", v))))... if length(split("=", v)) > 1 }\n' +
    '  secret = local.list["ARM_CLIENT_SECRET"][0]\n  pem = local.list["SIGNING_SECRET"][0]\n' +
    '  database = local.list["DATABASE_URL"][0]\n  proxy = local.list["CI_PROXY"][0]\n' +
    `}\noutput "x" {\n  value = ${value}\n}\n`
  const workspace_path = await service.workspace({ 'main.tf': code })
  const init = await service.run('/v1/init', { workspace_path, ...SCOPE })
  const plan = await service.run('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'session.plan' })
  const show = await service.run('/v1/show', { workspace_path, plan_file: 'session.plan' })
  const live = await service.request('GET', `/v1/jobs/${plan.job_id}/output?tail_bytes=65536`)
  expect([init.result.exit_code, plan.result.exit_code, plan.result.stderr]).toEqual([0, 0, ''])
  // The shown plan is still JSON, so that the platform can read it.
  expect(JSON.parse(show.result.stdout).output_changes.x).toBeDefined()
  return [plan.result.stdout, show.result.stdout, live.body.stdout, JSON.stringify(service.log)].join('\n')
}

const open = '$' + '{'
const bytes = Buffer.from(SECRET)
const ALIGNED = [0, 1, 2].map((at) =>
  Buffer.concat([Buffer.alloc(at), bytes])
    .toString('base64')
    .slice(at + 4, -6),
)
const VALUES: [string, string, string[]][] = [
  ['as it is', 'local.secret', [SECRET]],
  ['in base64', 'base64encode(local.secret)', ALIGNED],
  ['in base64 behind one letter', `base64encode("x${open}local.secret}")`, ALIGNED],
  ['in base64 behind two letters', `base64encode("xy${open}local.secret}z")`, ALIGNED],
  [
    'in base64 for addresses',
    'replace(replace(base64encode(local.secret), "+", "-"), "/", "_")',
    ALIGNED.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ],
  [
    'in base64 of other characters',
    'textencodebase64(local.secret, "UTF-16LE")',
    [Buffer.from(SECRET, 'utf16le').toString('base64').slice(0, -4)],
  ],
  ['in base64 of the whole environment', 'base64encode(local.env)', ALIGNED],
  ['as part of an address', 'urlencode(local.secret)', ['very%2Bsecret']],
  ['as JSON', 'jsonencode({ a = local.secret })', ['very+secret']],
  ['as JSON inside of JSON', 'jsonencode({ a = jsonencode({ a = local.secret }) })', ['very+secret']],
  ['in quotes', 'format("%q", local.secret)', ['very+secret']],
  ['twice in one line', `"${open}local.secret} ${open}local.secret}"`, ['very+secret']],
  ['a key of several lines', 'local.pem', KEY_LINES],
  ['a key of several lines, indented', 'indent(7, local.pem)', KEY_LINES],
  ['a key of several lines, in one', 'replace(local.pem, "\\n", "\\\\n")', KEY_LINES],
  ['a key of several lines, in a list', 'split("\\n", local.pem)', KEY_LINES],
  ['a key of several lines, in YAML', 'yamlencode({ a = local.pem })', KEY_LINES],
  ['a key of several lines, with other line ends', 'replace(local.pem, "\\n", "\\r\\n")', KEY_LINES],
  [
    'a line of a key in base64',
    `base64encode(split("\\n", local.pem)[2])`,
    [
      Buffer.from(KEY_LINES[1] ?? '')
        .toString('base64')
        .slice(0, 40),
    ],
  ],
  [
    'the key inside a document of credentials',
    'jsondecode(local.list["GOOGLE_CREDENTIALS"][0]).private_key',
    KEY_LINES,
  ],
  ['the password of an address', 'local.database', [PASSWORD]],
  ['the password of an address alone', 'split("@", split(":", local.database)[2])[0]', [PASSWORD]],
  ['two passwords in one line', 'local.proxy', ['p%40ss-of-the-second', 'u:short@']],
  [
    'a decoded password of an address',
    'replace(split("@", split(":", local.proxy)[2])[0], "%40", "@")',
    ['p@ss-of-the-second'],
  ],
]
for (const [title, value, hidden] of VALUES)
  attack(GROUP, title, async () => {
    const text = await told(value)
    for (const part of hidden) expect(text).not.toContain(part)
    expect(text).toContain('(sensitive value)')
    return 'the service writes (sensitive value) in its place, in the plan, its JSON and the live output'
  })

/** Encodings that no function of the engine makes. A provider could, so another engine is used. */
const SCRIPTS: [string, string, string][] = [
  ['in hexadecimal', `od -An -v -tx1 | tr -d ' \\n'`, bytes.toString('hex')],
  ['in hexadecimal capitals', `od -An -v -tx1 | tr -d ' \\n' | tr a-f A-F`, bytes.toString('hex').toUpperCase()],
]
for (const [title, script, hidden] of SCRIPTS)
  attack(GROUP, title, async () => {
    const binary = await fakeEngine(await temporaryFolder())
    const other = await startTestService({ IAC_SANDBOX: 'none', IAC_BINARY: binary, ARM_CLIENT_SECRET: SECRET })
    const command = `printf '%s' "$ARM_CLIENT_SECRET" | ${script}; echo; echo end >&2`
    const workspace_path = await other.workspace({ 'command.sh': command })
    const { result } = await other.run('/v1/validate', { workspace_path })
    await other.close()
    expect(result.stdout).not.toContain(hidden)
    expect(result.stdout).toBe('(sensitive value)\n')
    return `the service writes ${result.stdout}`
  })

test('what is no secret stays as it is', async () => {
  const text = await told('"service_account my-project db.example.com proxy.example.com user BEGIN"')
  expect(text).toContain('service_account my-project db.example.com proxy.example.com user BEGIN')
})
