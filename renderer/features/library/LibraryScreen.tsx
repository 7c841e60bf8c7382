import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Screen } from '../../ui/Screen.tsx';

/** @param props.id the trajectory that is open beside the list, from `/library/:id` */
export function LibraryScreen({ id }: { id: string | null }): ReactNode {
  const { t } = useTranslation('app');
  return <Screen title={t('nav.library')}>{id}</Screen>;
}
