import type { ReactNode } from 'react';

/** The mark: three feathers of a wing. */
export function Logo({ className }: { className?: string }): ReactNode {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      className={className}
      aria-hidden="true"
    >
      <path d="M3.2 12.4c6.4 1 12-1.900 16.600-8.900" />
      <path d="M4.600 16.600c6.100.5 11.400-2.300 15.200-8.200" />
      <path d="M7.400 20.300c5.200-.1 9.500-2.600 12.300-7.100" />
    </svg>
  );
}
