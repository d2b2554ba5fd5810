export const CLIENT_ID = 'console'
export const AUDIENCE = 'api://console'

export interface Issuer {
  url: string
  /** Methods and paths of requests, in order. */
  asked: string[]
  /** The person who signs in next, and the answer to the consent. */
  person: { name: string; agrees: boolean }
  /** Lifetime of access tokens in seconds. */
  lifetime: number
  /** True if refresh tokens are issued. */
  refresh: boolean
  /** While true every answer is 503. */
  down: boolean
  /** Ends every session and every grant, so that no token can be renewed. */
  forget(): void
  close(): Promise<void>
}
