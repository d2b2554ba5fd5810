import type { LogLevel } from '../../src/base/log.ts'
import { runService } from '../shared/run-service.ts'
import { checkSettings, type Environment, type ServerSettings, serverSettings, textOf } from '../shared/settings.ts'
import { createNotificationsApp } from './app.ts'
import { chatChannel, type EmailSettings, emailChannel, isAddress, webhookChannel } from './channels.ts'
import { createDeliveries } from './deliveries.ts'
import type { Channel } from './message.ts'

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
  switch (settings.channel) {
    case 'chat':
      return chatChannel(settings.webhookUrl, fetch)
    case 'email':
      return emailChannel(settings)
    case 'webhook':
      return webhookChannel(settings.url, settings.secret, fetch)
  }
}

export type ChannelSettings =
  | { channel: 'chat'; webhookUrl: string }
  | ({ channel: 'email' } & EmailSettings)
  | { channel: 'webhook'; url: string; secret: string }

interface NotificationsSettings extends ServerSettings {
  logLevel: LogLevel
  channel: ChannelSettings
}

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
export const readSettings = (env: Environment): NotificationsSettings =>
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
  const to = textOf(env, 'NOTIFICATIONS_EMAIL_TO')
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
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
