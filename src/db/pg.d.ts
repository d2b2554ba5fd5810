/** The part of the driver that is used here. */
declare module 'pg' {
  export interface TypeParsers {
    getTypeParser(oid: number, format?: 'text' | 'binary'): (raw: string) => unknown
  }
  export interface ClientConfig {
    connectionString?: string
    host?: string
    port?: number
    user?: string
    password?: string
    database?: string
    application_name?: string
    options?: string
    ssl?: boolean | { rejectUnauthorized: boolean }
    keepAlive?: boolean
    keepAliveInitialDelayMillis?: number
    connectionTimeoutMillis?: number
  }
  export interface QueryResult {
    rows: Record<string, unknown>[]
    rowCount: number | null
    command: string
  }
  export interface Notice {
    message?: string
    severity?: string
  }
  export class Client {
    constructor(config: ClientConfig)
    connect(): Promise<unknown>
    query(config: { text: string; values?: unknown[]; types?: TypeParsers }): Promise<QueryResult | QueryResult[]>
    end(): Promise<void>
    on(event: 'error', listener: (error: Error) => void): this
    on(event: 'end', listener: () => void): this
    on(event: 'notice', listener: (notice: Notice) => void): this
    on(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): this
  }
  export interface PoolClient extends Client {
    release(destroy?: boolean): void
  }
  export class Pool {
    constructor(config: ClientConfig & { max?: number; idleTimeoutMillis?: number; maxLifetimeSeconds?: number })
    connect(): Promise<PoolClient>
    end(): Promise<void>
    on(event: 'error', listener: (error: Error) => void): this
    on(event: 'connect', listener: (client: PoolClient) => void): this
  }
  export const types: TypeParsers
  const driver: { Client: typeof Client; Pool: typeof Pool; types: TypeParsers }
  export default driver
}
