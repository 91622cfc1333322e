export * from '@/shared/figures/thresholds.ts'
