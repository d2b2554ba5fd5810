import { describe, expect, it } from 'vitest'
import { configWarnings } from '../../config/check.ts'
import { readDatabaseAddress } from '../../config/database-address.ts'
import { maskedConfig, secretsOf } from '../../config/mask.ts'
import { at, load, problemsOf } from './support.ts'

const servers = (url: string) =>
  readDatabaseAddress(url).servers.map(({ host, port, hostaddr }) => `${host} ${port}${hostaddr && ` ${hostaddr}`}`)

describe('the servers of a database URL', () => {
  it.each([
    ['postgresql://h/d', ['h 5432']],
    ['postgres://u:p@h:6432/d', ['h 6432']],
    ['postgresql://u:p@a:1,b,c:3/d', ['a 1', 'b 5432', 'c 3']],
    ['postgresql://u:p@a,b/d?port=6432', ['a 6432', 'b 6432']],
    ['postgresql:///d?host=a,b&port=1,2', ['a 1', 'b 2']],
    ['postgresql://[::1]:5433/d', ['::1 5433']],
    ['postgresql://u:p@[::1],[fe80::1%25eth0]:2/d', ['::1 5432', 'fe80::1%eth0 2']],
    ['postgresql:///d?host=::1', ['::1 5432']],
    ['postgresql://u@%2Frun%2Fpostgresql:5433/d', ['/run/postgresql 5433']],
    ['postgresql:///d?host=/run/postgresql', ['/run/postgresql 5432']],
    ['postgresql://u@/d?host=%2Fcloudsql%2Fp:r:i', ['/cloudsql/p:r:i 5432']],
    ['postgresql://h/d?hostaddr=10.0.0.1', ['h 5432 10.0.0.1']],
    ['postgresql://10.0.0.1:6432/d?host=h&hostaddr=10.0.0.1', ['h 6432 10.0.0.1']],
    ['postgresql://', ['localhost 5432']],
    ['postgresql:///?hostaddr=10.0.0.1,10.0.0.2', ['10.0.0.1 5432 10.0.0.1', '10.0.0.2 5432 10.0.0.2']],
  ])('%s', (url, expected) => expect(servers(url)).toEqual(expected))
})

describe('the server that is wanted', () => {
  it.each([
    ['postgresql://a,b/d', 'read-write'],
    ['postgresql:///d?host=a,b', 'read-write'],
    ['postgresql://a,b/d?target_session_attrs=any', 'any'],
    ['postgresql://a/d', 'any'],
  ])('of several, the platform takes the server that can be written to: %s', (url, target) => {
    expect(readDatabaseAddress(url).target).toBe(target)
  })
})

describe('user, password and name', () => {
  it.each([
    ['postgresql://u:p%40%2F@h/d', 'u', 'p@/', 'd'],
    ['postgresql://u:100%@h/d', 'u', '100%', 'd'],
    ['postgresql://u:50%zz%41@h/d', 'u', '50%zzA', 'd'],
    ['postgresql://u:p@ss:w@h/d', 'u', 'p@ss:w', 'd'],
    ['postgresql://u:p?x#y&z=1@h:5432/d?sslmode=require', 'u', 'p?x#y&z=1', 'd'],
    ['postgresql://u:p%@ss?#&=:1%zz@h:1,i/d?a=b', 'u', 'p%@ss?#&=:1%zz', 'd'],
    ['postgresql://u:p@h?user=other@corp', 'other@corp', 'p', ''],
    ['postgresql://h:5432?user=u@corp', 'u@corp', '', ''],
    ['postgresql://[::1]:5432?user=u@corp', 'u@corp', '', ''],
    ['postgresql:///d?user=u&password=a%26b#c', 'u', 'a&b#c', 'd'],
    ['postgresql+psycopg://%C3%A4:p@h/d%20b', 'ä', 'p', 'd b'],
    ['POSTGRESQL://u:[x]@h/d', 'u', '[x]', 'd'],
    ['postgresql://u@h?dbname=d', 'u', '', 'd'],
    ['postgres://user:@localhost:6432,localhost:5432/db_name', 'user', '', 'db_name'],
  ])('%s', (url, user, password, database) => {
    expect(readDatabaseAddress(url)).toMatchObject({ user, password, database })
  })
})

describe('parameters', () => {
  const read = (query: string) => readDatabaseAddress(`postgresql://h/d?${query}`)

  it.each([
    ['', 'disable'],
    ['sslmode=allow', 'prefer'],
    ['sslmode=require', 'require'],
    ['ssl=true', 'require'],
    ['requiressl=1', 'require'],
    ['sslmode=require&sslrootcert=/ca.pem', 'verify-ca'],
    ['sslmode=verify-ca', 'verify-ca'],
    ['sslrootcert=system', 'verify-full'],
  ])('the TLS of %j is %s', (query, mode) => expect(read(query).tls.mode).toBe(mode))

  it('are passed on when the server knows them, and in no other case', () => {
    const { settings, ignored } = read(
      'application_name=x&Statement_Timeout=5s&options=-c+geqo%3Doff&keepalives=1&keepalives_interval=5&requiressl=0' +
        '&connection_limit=5&pool_timeout=3&load_balance_hosts=random&ssl_min_protocol_version=TLSv1.2&timezone=CET' +
        '&pgbouncer=true',
    )
    expect(settings).toEqual({ application_name: 'x', statement_timeout: '5s', options: '-c geqo=off' })
    expect(ignored).toEqual([])
  })

  it.each([
    ['', null],
    ['prepare=false', false],
    ['prepare=true&pgbouncer=true', true],
    ['pgbouncer=true', false],
  ])('%j prepares: %s', (query, prepare) => expect(read(query).prepare).toBe(prepare))

  it.each([
    ['', null, null],
    ['connect_timeout=3&keepalives_idle=30', 3, 30],
    ['connect_timeout=0&keepalives=0&keepalives_idle=30', null, 0],
  ])('the times of %j', (query, connect_timeout, keepalive) =>
    expect(read(query)).toMatchObject({ connect_timeout, keepalive }))

  it.each([
    ['sslmode=maybe', "sslmode 'maybe' is not known"],
    ['target_session_attrs=master', 'one of any, read-write, read-only, primary, standby, prefer-standby'],
    ['load_balance_hosts=yes', 'one of disable, random as load_balance_hosts'],
    ['ssl_min_protocol_version=SSLv3', 'as ssl_min_protocol_version'],
    ['connect_timeout=soon', 'a whole number of seconds as connect_timeout'],
    ['host=a,b,c&port=1,2', 'names 2 ports for 3 servers'],
    ['host=a,b&hostaddr=1.1.1.1,2.2.2.2,3.3.3.3', 'names 3 addresses for 2 servers'],
    ['port=70000', 'no number from 1 to 65535'],
    ['sslmode=require&sslrootcert=system', 'needs sslmode=verify-full'],
    ['sslnegotiation=direct', 'needs sslmode=require'],
    ['password=half&of it', 'is written %26'],
  ])('%s is refused', (query, text) => expect(() => read(query)).toThrow(text))
})

it.each([
  '',
  'mysql://h/d',
  'postgresql+://h/d',
  'postgresql://h:notaport/d',
  'postgresql://u:secret/word@h/d',
  'postgresql://u:secret@h:1:2/d',
  'postgresql://u:secret@[::1/d',
  'not a url',
])('%j is refused without a word of it', (url) => {
  expect(() => readDatabaseAddress(url)).toThrow(/^the database URL is not valid: it /)
  expect(() => readDatabaseAddress(url)).not.toThrow(/secret|notaport/)
})

describe('at the start', () => {
  it('names the variable and the rule', async () => {
    expect(await problemsOf(null, { PLATFORM_SQL_DATABASE_URL: 'postgresql://u:pw@a,b/d?port=1,2,3' })).toEqual([
      'PLATFORM_SQL_DATABASE_URL: the database URL is not valid: it names 3 ports for 2 servers',
    ])
    expect(await problemsOf(null, { PLATFORM_SQL_DIRECT_URL: 'redis://u:pw@a/0' })).toEqual([
      'PLATFORM_SQL_DIRECT_URL: the database URL is not valid: it must begin with postgresql:// or postgres://',
    ])
  })

  it('names the parameters without effect once, and no value', async () => {
    const config = await load('storage: {provider: S3}', {
      PLATFORM_SQL_DATABASE_URL:
        'postgresql://h/d?foo=bar&channel_binding=require&require_auth=scram-sha-256&sslmode=prefer&pool_timeout=1',
      PLATFORM_SQL_DIRECT_URL: 'postgresql://h/d?channel_binding=prefer',
    })
    expect(configWarnings(config).filter((text) => text.includes('_URL'))).toEqual([
      'PLATFORM_SQL_DATABASE_URL: parameters without effect: foo, channel_binding, require_auth',
    ])
  })

  it.each([
    ['postgresql://u:p?x#y@h/d', 'postgresql://u:***@h/d', 'p?x#y'],
    ['postgresql://u:a@b@h,i:2/d?application_name=x', 'postgresql://u:***@h,i:2/d?application_name=x', 'a@b'],
    ['postgresql:///d?password=a#b&user=u', 'postgresql:///d?password=***&user=u', 'a#b'],
    ['postgresql://h?user=u@corp', 'postgresql://h?user=u@corp', null],
  ])('masks %s', async (url, shown, secret) => {
    const config = await load('storage: {provider: S3}', { PLATFORM_SQL_DIRECT_URL: url })
    expect(at(maskedConfig(config), 'database.direct_url')).toBe(shown)
    if (secret !== null) expect(secretsOf(config)).toContain(secret)
  })
})
