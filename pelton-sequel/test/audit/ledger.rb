# frozen_string_literal: true

module DatabaseAudit
  # The tables that the load writes to, the journal of what a database has acknowledged, and the comparison of the two.
  class Ledger
    ACCOUNTS = 16

    # @param database [Sequel::Database]
    def initialize(database)
      @database = database
    end

    def create
      @database.create_table(:entries) { Bignum :id, primary_key: true }
      %i[debits credits].each do |name|
        @database.create_table(name) { Bignum(:id, primary_key: true).then { Integer :amount } }
      end
      %i[payers payees].each do |name|
        @database.create_table(name) { Integer(:id, primary_key: true).then { Bignum :balance } }
        @database[name].import(%i[id balance], (1..ACCOUNTS).map { |id| [id, 0] })
      end
    end

    # Writes one row.
    def enter(id) = @database[:entries].insert(id: id)

    # Writes four rows that belong together.
    def transfer(id)
      amount = rand(1..1000)
      @database.transaction do
        debit(id, amount)
        sleep(rand * 0.003)
        credit(id, amount)
      end
    end

    # The same, where a savepoint is given up.
    def transfer_by_savepoints(id)
      amount = rand(1..1000)
      @database.transaction do
        debit(id, amount)
        @database.transaction(savepoint: true) { credit(id, amount + 1).then { raise Sequel::Rollback } }
        @database.transaction(savepoint: true) { credit(id, amount) }
      end
    end

    # What has been taken from all payers and given to all payees must agree at any time.
    def balanced?
      @database.fetch("SELECT (SELECT sum(balance) FROM payers) + (SELECT sum(balance) FROM payees) AS difference")
        .single_value
        .to_i
        .zero?
    end

    # Asks the database for a number.
    def echo(number) = @database.get(Sequel[number].as(:number))

    # Compares the tables with what was acknowledged.
    #
    # @param acknowledged [Hash{String => Array<Integer>}] numbers of "entry" and "transfer"
    # @return [Array<String>] what is wrong
    def problems(acknowledged)
      entries = @database[:entries].select_map(:id)
      debits, credits = %i[debits credits].map { |name| @database[name].select_hash(:id, :amount) }
      lost = {entries: acknowledged["entry"] - entries, transfers: acknowledged["transfer"] - debits.keys}
      sums = %i[payers payees].map { |name| @database[name].sum(:balance).to_i }
      [
        *lost.reject { |_, ids| ids.empty? }
          .map { |name, ids| "#{ids.size} acknowledged #{name} are not there: #{ids.first(5).join(", ")}" },
        *(debits.to_a - credits.to_a).first(5)
          .map { |id, amount| "the debit of #{amount}, number #{id}, has no credit" },
        *(credits.to_a - debits.to_a).first(5)
          .map { |id, amount| "the credit of #{amount}, number #{id}, has no debit" },
        *("the payers' balances are #{sums[0]}, the debits #{debits.values.sum}" unless sums[0] == -debits.values.sum),
        *("SQLite says that the file is not intact" unless intact?),
        *("the payees' balances are #{sums[1]}, the credits #{credits.values.sum}" unless sums[1] == credits.values.sum)
      ]
    end

    private

    def intact? = @database.database_type != :sqlite || @database.fetch("PRAGMA integrity_check").single_value == "ok"

    def debit(id, amount)
      @database[:debits].insert(id: id, amount: amount)
      @database[:payers].where(id: rand(1..ACCOUNTS)).update(balance: Sequel[:balance] - amount)
    end

    def credit(id, amount)
      @database[:credits].insert(id: id, amount: amount)
      @database[:payees].where(id: rand(1..ACCOUNTS)).update(balance: Sequel[:balance] + amount)
    end
  end
end
