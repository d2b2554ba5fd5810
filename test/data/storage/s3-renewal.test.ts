import { HttpResponse } from 'msw'
import { describe, expect, it } from 'vitest'
import { interceptRequests, recordRequests } from '../../helpers/intercept.ts'
import { assumed, CONTAINER, chainStore, INSTANCE, instance, role, STS, signedBy } from './aws.ts'

const outside = interceptRequests()

const BOXED = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/x' }

/** Creates a clock that starts at midnight and is set by the test. */
function clock() {
  let now = Date.parse('2026-01-01T00:00:00Z')
  return {
    now: () => new Date(now),
    to: (time: string) => {
      now = Date.parse(`2026-01-01T${time}:00Z`)
    },
  }
}
const at = (time: string) => `2026-01-01T${time}:00Z`

describe('temporary credentials', () => {
  it('are kept until shortly before they lapse', async () => {
    const time = clock()
    const seen = recordRequests(outside, INSTANCE, (request) =>
      instance('ROLE', at(time.now() < new Date(at('00:30')) ? '01:00' : '07:00'))(request),
    )
    const { store } = await chainStore({}, {}, time.now)
    await signedBy(store)
    time.to('00:54')
    await signedBy(store)
    expect(seen).toHaveLength(3)
    expect(await store.urlsLapse()).toEqual(new Date(at('01:00')))
    time.to('00:56')
    await signedBy(store)
    expect(seen).toHaveLength(6)
    expect(await store.urlsLapse()).toEqual(new Date(at('07:00')))
  })

  it('are looked up once for all who wait', async () => {
    const time = clock()
    let number = 0
    const seen = recordRequests(outside, CONTAINER, () => role(`N${++number}`, at('01:00')))
    const { store } = await chainStore(BOXED, {}, time.now)
    const names = await Promise.all(Array.from({ length: 20 }, () => signedBy(store)))
    expect(new Set(names)).toEqual(new Set(['ASIAN1 N1-token']))
    time.to('00:57')
    await Promise.all(Array.from({ length: 20 }, () => signedBy(store)))
    expect(seen).toHaveLength(2)
  })

  it('that cannot be renewed are used while they are valid, then the fault is told', async () => {
    const time = clock()
    let reply = () => role('FIRST', at('01:00'))
    const seen = recordRequests(outside, CONTAINER, () => reply())
    const { store, lines } = await chainStore(BOXED, {}, time.now)
    await signedBy(store)
    reply = () => new HttpResponse(null, { status: 403 })
    time.to('00:57')
    expect(await signedBy(store)).toBe('ASIAFIRST FIRST-token')
    expect(await signedBy(store)).toBe('ASIAFIRST FIRST-token')
    expect(seen).toHaveLength(2)
    expect(lines.at(-1)).toMatchObject({
      level: 'warn',
      message: 'credentials of the object store were not renewed, the present ones are still valid',
    })
    time.to('01:00')
    await expect(signedBy(store)).rejects.toThrow('the credentials of the container cannot be had (403).')
    reply = () => role('SECOND', at('02:00'))
    expect(await signedBy(store)).toBe('ASIASECOND SECOND-token')
  })

  it('of a source that gives short ones are not looked up for every signature', async () => {
    const time = clock()
    const seen = recordRequests(outside, CONTAINER, () => role('SHORT', at('00:02')))
    const { store } = await chainStore(BOXED, {}, time.now)
    for (let count = 0; count < 5; count++) await signedBy(store)
    expect(seen).toHaveLength(1)
  })

  it('are renewed with the token that the file holds then', async () => {
    const time = clock()
    const sts = recordRequests(outside, STS, () =>
      assumed('AssumeRoleWithWebIdentity', 'WEB', at(time.now() < new Date(at('00:30')) ? '01:00' : '02:00')),
    )
    const files = { '/token': 'first' }
    const { store } = await chainStore({ AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: 'arn' }, files, time.now)
    await signedBy(store)
    files['/token'] = 'second'
    time.to('00:58')
    await signedBy(store)
    expect(sts.map(({ form }) => form.WebIdentityToken)).toEqual(['first', 'second'])
  })
})

describe('keys of a file', () => {
  const keys = (name: string) => `[default]\naws_access_key_id=AKIA${name}\naws_secret_access_key=s\n`

  it('are read again after a while, and no other place is asked when they are gone', async () => {
    const time = clock()
    const files: Record<string, string> = { '/keys': keys('OLD') }
    const { store } = await chainStore({ AWS_SHARED_CREDENTIALS_FILE: '/keys' }, files, time.now)
    expect(await signedBy(store)).toBe('AKIAOLD')
    expect(await store.urlsLapse()).toBeNull()
    files['/keys'] = keys('NEW')
    expect(await signedBy(store)).toBe('AKIAOLD')
    time.to('00:16')
    expect(await signedBy(store)).toBe('AKIANEW')
    delete files['/keys']
    time.to('00:40')
    expect(await signedBy(store)).toBe('AKIANEW')
  })
})
