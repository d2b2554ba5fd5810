import * as v from 'valibot'
import { baseUrl, decimal, flag, text } from '../fields.ts'
import type { Source } from '../source.ts'

/** The settings that all sidecars have. */
export type ServiceConfig = Omit<OptionalServiceConfig, 'enabled'>
export type IacServiceConfig = ReturnType<typeof readIac>
export type OptionalServiceConfig = ReturnType<typeof readOptional>

export const iacSchema = v.object({
  endpoint: baseUrl('http://iac:8082'),
  token_env: text('PLATFORM_IAC_TOKEN'),
  timeout: decimal(30, { above: 0 }),
  job_poll_interval: decimal(5, { min: 0 }),
  job_timeout: decimal(3600, { above: 0 }),
})

export const optionalServiceSchema = v.object({
  enabled: flag(false),
  /** Base URL without trailing slash. */
  endpoint: baseUrl(''),
  token_env: text(''),
  timeout: decimal(30, { above: 0 }),
})

export const authzSchema = v.object({
  ...optionalServiceSchema.entries,
  /** True if repositories are reached only with the consent of the sidecar. */
  enforce: flag(false),
})

export function readServices(source: Source) {
  return {
    iac: readIac(source),
    notifications: readOptional(source, 'services.notifications'),
    mapping: readOptional(source, 'services.mapping'),
    authz: readAuthz(source),
  }
}

function readIac(source: Source) {
  const { values } = source.section('services.iac', iacSchema)
  if (values.endpoint === '')
    source.problem(
      'services.iac.endpoint is empty; the IaC service is mandatory. ' +
        'Point it at an implementation of the iac contract.',
    )
  return { ...values, token: source.variable(values.token_env) }
}

function readOptional(source: Source, path: string) {
  const { values } = source.section(path, optionalServiceSchema)
  return { ...values, token: source.variable(values.token_env) }
}

function readAuthz(source: Source) {
  const { values } = source.section('services.authz', authzSchema)
  if (values.enforce && !values.enabled)
    source.problem(
      'services.authz.enforce needs services.authz.enabled: true, because a disabled sidecar grants every check.',
    )
  return { ...values, token: source.variable(values.token_env) }
}

/** Returns the error for sidecars that will be called but have no token; null when all have one. */
export function missingTokens({ iac, notifications, mapping, authz }: ReturnType<typeof readServices>): string | null {
  const optional = Object.entries({ notifications, mapping, authz }).filter(([, service]) => service.enabled)
  const called: [string, ServiceConfig][] = [['iac', iac], ...optional]
  const missing = called.filter(([, service]) => service.token === '')
  if (missing.length === 0) return null
  const listed = missing.map(
    ([name, { token_env }]) => `services.${name} → ${token_env === '' ? 'token_env is empty' : `$${token_env}`}`,
  )
  return (
    `Services the core calls have no bearer token in the environment: ${listed.join('; ')}. Set the listed env vars; ` +
    'the optional sidecars can also be flipped to enabled: false (services.iac cannot — it is mandatory).'
  )
}
