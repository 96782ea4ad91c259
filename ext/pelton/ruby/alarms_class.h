#ifndef PEL_ALARMS_CLASS_H
#define PEL_ALARMS_CLASS_H

/* Pelton::Alarms. */
void pel_init_alarms(void);

#endif
