import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allowedVariables, cloudsOf, homeFolders, namedFiles } from '../../../../sidecars/iac/sandbox/environment.ts'
import { temporaryFolder } from '../service.ts'

const SERVICE = {
  PATH: '/bin',
  PLATFORM_IAC_TOKEN: 'a',
  IAC_DATA_DIR: 'b',
  AWS_SECRET_ACCESS_KEY: 'c',
  ARM_CLIENT_SECRET: 'd',
  GOOGLE_CREDENTIALS: 'e',
  KUBECONFIG: 'f',
  KUBE_TOKEN: 'g',
  TF_VAR_region: 'h',
  TF_TOKEN_registry_example_com: 'i',
  TF_LOG_PATH: '/var/log/x',
  HTTPS_PROXY: 'j',
  no_proxy: 'k',
  SSL_CERT_FILE: 'l',
  LC_ALL: 'm',
  DATABASE_URL: 'n',
  GITHUB_TOKEN: 'o',
  DATADOG_API_KEY: 'p',
  LD_PRELOAD: 'q',
}
const SETTINGS = ['TF_VAR_region', 'HTTPS_PROXY', 'no_proxy', 'SSL_CERT_FILE', 'LC_ALL']
const request = { workspace_path: '/w', engine_provider: 'aws' } as const

describe('variables', () => {
  it('are those of the cloud, the settings of the engine, proxies and the language', () => {
    expect(Object.keys(allowedVariables(SERVICE, 'plan', ['aws'], []))).toEqual(['AWS_SECRET_ACCESS_KEY', ...SETTINGS])
    expect(Object.keys(allowedVariables(SERVICE, 'plan', ['kubernetes'], []))).toEqual([
      'KUBECONFIG',
      'KUBE_TOKEN',
      ...SETTINGS,
    ])
  })

  it('hold tokens of registries for init alone', () => {
    const ofInit = allowedVariables(SERVICE, 'init', [], [])
    expect(Object.keys(ofInit)).toContain('TF_TOKEN_registry_example_com')
    expect(Object.keys(allowedVariables(SERVICE, 'validate', [], []))).toEqual(SETTINGS)
  })

  it('hold what the operator adds, and never what belongs to the platform', () => {
    const added = Object.keys(
      allowedVariables(SERVICE, 'plan', [], ['GITHUB_TOKEN', 'DATADOG_*', 'PLATFORM_*', 'IAC_DATA_DIR']),
    )
    expect(added.filter((name) => !SETTINGS.includes(name))).toEqual(['GITHUB_TOKEN', 'DATADOG_API_KEY'])
  })
})

describe('clouds of a job', () => {
  it('are that of the request where the job asks a cloud, and that of the state where it opens it', () => {
    expect(cloudsOf('plan', request, null)).toEqual(['aws'])
    expect(cloudsOf('plan', request, 'azure')).toEqual(['aws', 'azure'])
    expect(cloudsOf('plan', request, 'aws')).toEqual(['aws'])
    expect(cloudsOf('state_resource_ids', { workspace_path: '/w' }, 'gcp')).toEqual(['gcp'])
    for (const kind of ['validate', 'show', 'schema', 'diagnostics'] as const)
      expect(cloudsOf(kind, request, 'gcp')).toEqual([])
    expect(homeFolders(['aws', 'gcp'])).toEqual(['.aws', '.config/gcloud'])
  })
})

it('files that variables name are found, one or several', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'certificates'))
  await writeFile(join(folder, 'a'), '')
  const files = await namedFiles({
    AWS_CONFIG_FILE: join(folder, 'a'),
    KUBE_CONFIG_PATHS: `${join(folder, 'missing')}:${join(folder, 'certificates')}`,
    AWS_REGION: 'eu-central-1',
    AWS_SECRET_ACCESS_KEY: '/begins/like/a/path',
    ROOT: '/',
  })
  expect(files).toEqual([join(folder, 'a'), join(folder, 'certificates')])
})
