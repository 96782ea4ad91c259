# Optimistic and pessimistic locking. Each line is a call.
ann = Account.create!(owner: "Ann", balance: 100)
bob = Account.create!(owner: "Bob", balance: 50)
ann.lock_version
ann.update!(balance: 90)
ann.lock_version
stale = Account.find(ann.id)
ann.update!(balance: 80)
error { stale.update!(balance: 70) }
stale.changed?
stale.reload.balance
stale.update!(balance: 70)
error { ann.update!(balance: 60) }.first
error { ann.destroy }.first
ann.reload.lock_version
ann.update_column(:balance, 100)
ann.reload.lock_version
ann.increment!(:balance, 5)
ann.reload.balance
error { ann.touch }
Account.where(id: ann.id).update_all(balance: 100)
ann.reload.balance
Account.locking_enabled?
Account.locking_column
Account.transfer(ann.id, bob.id, 30)
[ann.reload.balance, bob.reload.balance]
Account.transfer(bob.id, ann.id, 30)
[ann.reload.balance, bob.reload.balance]
error { Account.transfer(bob.id, ann.id, 1000) }
[ann.reload.balance, bob.reload.balance]
Account.transaction { Account.lock.find(ann.id).owner }
Account.transaction { Account.lock.find_by(owner: "Bob").balance }
Account.transaction { Account.lock(true).order(:id).pluck(:owner) }
Account.transaction { ann.lock!.balance }
error { ann.tap { |one| one.balance = 1 }.lock! }.first
ann.reload.balance
ann.with_lock { ann.balance }
ann.with_lock { ann.update!(balance: ann.balance + 1) }
ann.reload.balance
error { ann.with_lock { ann.update!(balance: 0) && raise("wrong") } }
ann.reload.balance
ann.with_lock { raise ActiveRecord::Rollback }
bob.with_lock(requires_new: true) { bob.balance }
Account.transaction { bob.with_lock { bob.update!(balance: 51) } }
bob.reload.balance
sql { Account.transaction { Account.lock.find(ann.id) } }.grep(/FOR UPDATE/).size
sql { Account.transaction { Account.lock(false).find(ann.id) } }.grep(/FOR UPDATE/).size
room { Account.transaction { Account.lock.find(ann.id) && beside { Account.find(ann.id).owner } } }
10.times.map { |number| Account.transfer(ann.id, bob.id, number) }.size
[ann.reload.balance, bob.reload.balance]
Account.sum(:balance)
two = [Account.find(bob.id), Account.find(bob.id)]
two.map { |one| error { one.update!(balance: one.balance + 1) } }
bob.reload.balance
error { Account.find(bob.id).tap { |one| one.lock_version = 0 }.save }
bob.reload.destroy
Account.exists?(owner: "Bob")
Account.create!(owner: "Cid", lock_version: 7).lock_version
error { Account.find_by(owner: "Cid").update!(owner: nil) }
Account.new.lock_version
Account.order(:id).map { |one| [one.owner, one.balance] }
