import { HttpResponse } from 'msw'
import type { IacServiceConfig } from '../../../config/types.ts'
import type { Fetch } from '../../../src/base/http.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'

export const ENDPOINT = 'http://iac.test:8082'
export const JOB = '3f2b8c1e-6a57-4f0e-9d31-0c7b5a8e4d12'

/** Creates a client of the service at `ENDPOINT`, which the tests play. */
export const clientOf = (
  change: Partial<IacServiceConfig> = {},
  write: (line: string) => void = () => {},
  answer: Fetch = (input, init) => fetch(input, init),
) => {
  const limits = { timeout: 5, job_poll_interval: 0.05, job_timeout: 5 }
  const config = { endpoint: ENDPOINT, token_env: 'T', token: 'secret-token', ...limits, ...change }
  return createIacClient(config, { fetch: answer, log: createLogger({ write }) })
}

export const status = (code: number) => () => new HttpResponse('<html>', { status: code })
