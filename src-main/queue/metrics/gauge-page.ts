import { Gauge, Registry } from 'prom-client'
import type { MetricsPage } from './metrics-server.ts'

/** A name with its labels. At least one label: without any, Prometheus' library would show a 0 that nobody measured. */
export interface GaugeFamily {
  /** In full, with the prefix. */
  readonly name: string
  readonly help: string
  readonly labels: readonly [string, ...string[]]
}

export interface GaugeSample {
  /** Of a family. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * A page of gauges that are all taken anew at each scrape: what `read` leaves out has no sample, so nothing unknown is a number. Two
 * samples with the same labels are a bug of the reader; the last one counts.
 */
export function openGaugePage(families: readonly GaugeFamily[], read: () => Iterable<GaugeSample>): MetricsPage {
  const registry = new Registry()
  const gauges = new Map(
    families.map(({ name, help, labels }) => {
      const gauge = new Gauge({ name, help, labelNames: [...labels], registers: [registry] })
      return [name, gauge] as const
    })
  )
  return {
    contentType: registry.contentType,
    text: () => {
      for (const gauge of gauges.values()) gauge.reset()
      for (const { name, labels, value } of read()) gauges.get(name)?.set({ ...labels }, value)
      return registry.metrics()
    }
  }
}
