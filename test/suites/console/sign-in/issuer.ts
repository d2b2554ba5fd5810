export const CLIENT_ID = 'console'
export const AUDIENCE = 'api://console'

/** An OpenID provider for tests of the sign-in. */
export interface Issuer {
  url: string
  /** Method and path of what was asked, in order. */
  asked: string[]
  /** Who signs in next, and whether the answer is yes. */
  person: { name: string; agrees: boolean }
  /** Seconds that access tokens live. */
  lifetime: number
  /** Whether refresh tokens are given out. */
  refresh: boolean
  /** While true every answer is 503. */
  down: boolean
  /** Ends every session and every grant: nobody can renew any more. */
  forget(): void
  close(): Promise<void>
}
