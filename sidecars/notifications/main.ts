import type { Hono } from 'hono'
import { OutboundError } from '../../src/base/http.ts'
import type { Logger, LogLevel } from '../../src/base/log.ts'
import { createSidecarApp, problemResponse, readBody } from '../shared/http.ts'
import { runService } from '../shared/run-service.ts'
import { checkSettings, type Environment, listOf, serverSettings, textOf } from '../shared/settings.ts'
import { chatChannel, type EmailSettings, emailChannel, isAddress, webhookChannel } from './channels.ts'
import { type Channel, ChannelError, createDeliveries, type Deliveries, Notification } from './deliveries.ts'

export const main = (): Promise<void> =>
  runService({
    name: 'notifications',
    tokenVariable: 'PLATFORM_NOTIFICATIONS_TOKEN',
    secrets: ['CHAT_WEBHOOK_URL', 'SMTP_URL', 'NOTIFICATIONS_WEBHOOK_URL', 'NOTIFICATIONS_WEBHOOK_SECRET'],
    readSettings,
    open: async ({ token, channel }, log) => {
      log.info('channel', { channel: channel.channel })
      return { fetch: createNotificationsApp({ token, deliveries: createDeliveries(openChannel(channel)), log }).fetch }
    },
  })

function openChannel(settings: ChannelSettings): Channel {
  if (settings.channel === 'chat') return chatChannel(settings.webhookUrl, fetch)
  return settings.channel === 'email' ? emailChannel(settings) : webhookChannel(settings.url, settings.secret, fetch)
}

type ChannelSettings =
  | { channel: 'chat'; webhookUrl: string }
  | ({ channel: 'email' } & EmailSettings)
  | { channel: 'webhook'; url: string; secret: string }

const LEVELS: ReadonlyMap<string, LogLevel> = new Map([
  ['notset', 'debug'],
  ['debug', 'debug'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['critical', 'error'],
  ['fatal', 'error'],
])

/** Reads the settings. Errors: `SettingsError`; no message holds the value of a credential. */
export const readSettings = (env: Environment) =>
  checkSettings((problems) => {
    const level = textOf(env, 'LOG_LEVEL') || 'INFO'
    const logLevel = LEVELS.get(level.toLowerCase())
    if (!logLevel) problems.push(`LOG_LEVEL must be DEBUG, INFO, WARNING, ERROR or CRITICAL, got '${level}'`)
    return {
      ...serverSettings(env, 8080, 'PLATFORM_NOTIFICATIONS_TOKEN', problems),
      logLevel: logLevel ?? 'info',
      channel: readChannel(env, problems),
    }
  })

function readChannel(env: Environment, problems: string[]): ChannelSettings {
  const channel = textOf(env, 'PLATFORM_NOTIFICATIONS_CHANNEL').toLowerCase() || 'chat'
  if (channel === 'email') return readEmail(env, problems)
  if (channel === 'webhook') {
    const secret = textOf(env, 'NOTIFICATIONS_WEBHOOK_SECRET')
    if (secret.length < 16) problems.push('NOTIFICATIONS_WEBHOOK_SECRET must have at least 16 characters')
    return { channel, url: readUrl(env, 'NOTIFICATIONS_WEBHOOK_URL', /^https?:$/, problems), secret }
  }
  if (channel !== 'chat')
    problems.push(`PLATFORM_NOTIFICATIONS_CHANNEL must be chat, email or webhook, got '${channel}'`)
  return { channel: 'chat', webhookUrl: readUrl(env, 'CHAT_WEBHOOK_URL', /^https?:$/, problems) }
}

function readEmail(env: Environment, problems: string[]): ChannelSettings {
  const from = textOf(env, 'NOTIFICATIONS_EMAIL_FROM')
  const to = listOf(env, 'NOTIFICATIONS_EMAIL_TO')
  if (!isAddress(from)) problems.push('NOTIFICATIONS_EMAIL_FROM must be an e-mail address')
  if (to.length === 0)
    problems.push('NOTIFICATIONS_EMAIL_TO must name at least one recipient for notifications without an audience')
  for (const address of to)
    if (!isAddress(address)) problems.push(`NOTIFICATIONS_EMAIL_TO holds '${address}', which is no e-mail address`)
  return { channel: 'email', smtpUrl: readUrl(env, 'SMTP_URL', /^smtps?:$/, problems), from, to }
}

function readUrl(env: Environment, name: string, protocol: RegExp, problems: string[]): string {
  const value = textOf(env, name)
  if (value === '') problems.push(`${name} is not set; the notifications service cannot deliver anything without it`)
  else if (!URL.canParse(value) || !protocol.test(new URL(value).protocol)) problems.push(`${name} is no valid address`)
  return value
}

/** Creates the HTTP routes of `contracts/notifications.v1.yaml`. */
export function createNotificationsApp(options: { token: string; deliveries: Deliveries; log: Logger }): Hono {
  const { deliveries, log } = options
  const app = createSidecarApp({ token: options.token, log })
  app.post('/v1/notify', async (c) => {
    // Room for 256 names of 4 KiB each and a full message; the contract sets no limit for the names of an audience.
    const body = await readBody(c, Notification, { maxBytes: 2 * 1024 * 1024, typed: true })
    if (!body.ok) return body.response
    const { kind, severity } = body.value
    try {
      const deliveryId = await deliveries.deliver(body.value)
      log.info('notification delivered', { kind, severity, delivery_id: deliveryId })
      return c.json({ delivery_id: deliveryId }, 202)
    } catch (error) {
      log.error('notification not delivered', { kind, severity, reason: reasonOf(error) })
      return problemResponse(502, 'Downstream channel error')
    }
  })
  return app
}

/** Returns the codes of an error. A library's message may quote the address of the channel, a credential. */
function reasonOf(error: unknown): string {
  if (error instanceof ChannelError) return error.message
  if (error instanceof OutboundError) return error.kind
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : 'unknown error'
}
