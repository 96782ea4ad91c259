# frozen_string_literal: true

# The models of the comparison. Each run has tables and classes of its own, in a module; the databases are those of all
# runs.
module Comparison
  # Three databases: the main one, which has a replica (the same, where nothing can be written), and another one.
  class ApplicationRecord < ActiveRecord::Base
    self.abstract_class = true
    connects_to database: {writing: :primary, reading: :replica}
  end

  class LibraryRecord < ActiveRecord::Base
    self.abstract_class = true
    connects_to database: {writing: :other, reading: :other}
  end

  class ShardedRecord < ActiveRecord::Base
    self.abstract_class = true
    connects_to shards: {one: {writing: :primary, reading: :replica}, two: {writing: :other, reading: :other}}
  end

  MODELS = <<~RUBY
    class Author < Comparison::ApplicationRecord
      has_many :posts, -> { order(:id) }, dependent: :destroy
      has_many :comments, through: :posts
      has_many :memberships, dependent: :delete_all
      has_many :groups, through: :memberships
      has_one :profile, dependent: :destroy
      has_one :latest_post, -> { order(id: :desc) }, class_name: "Post"
      has_many :books
      belongs_to :mentor, class_name: "Author", optional: true
      has_many :pupils, class_name: "Author", foreign_key: :mentor_id, dependent: :nullify
      accepts_nested_attributes_for :profile, :posts, allow_destroy: true
      validates :name, presence: true
      validates :age, numericality: {greater_than: 0}, allow_nil: true
      scope :adult, -> { where("age >= 18") }
      scope :named, ->(name) { where(name: name) }
      serialize :settings, coder: JSON
    end

    class Profile < Comparison::ApplicationRecord
      belongs_to :author, touch: false
    end

    class Post < Comparison::ApplicationRecord
      belongs_to :author, counter_cache: true, optional: true
      has_many :comments, -> { order(:id) }, as: :subject, dependent: :destroy
      has_and_belongs_to_many :tags
      enum :status, {draft: 0, published: 1, archived: 2}
      validates :title, presence: true, length: {maximum: 100}
      scope :popular, -> { where(score: 10..) }
    end

    class Comment < Comparison::ApplicationRecord
      belongs_to :subject, polymorphic: true
    end

    class Tag < Comparison::ApplicationRecord
      has_and_belongs_to_many :posts
    end

    class Group < Comparison::ApplicationRecord
      has_many :memberships
      has_many :authors, through: :memberships
    end

    class Membership < Comparison::ApplicationRecord
      belongs_to :author
      belongs_to :group
    end

    class Vehicle < Comparison::ApplicationRecord
    end

    class Car < Vehicle
      def sound = "brumm"
    end

    class Boat < Vehicle
      default_scope { where(broken: false) }
    end

    class Account < Comparison::ApplicationRecord # has lock_version
      def self.transfer(from, to, amount)
        transaction do
          first, second = order(:id).lock.where(id: [from, to]).to_a
          payer, payee = (first.id == from) ? [first, second] : [second, first]
          raise ArgumentError, "too little" if payer.balance < amount
          payer.update!(balance: payer.balance - amount)
          payee.update!(balance: payee.balance + amount)
        end
      end
    end

    class Order < Comparison::ApplicationRecord
      %i[
        before_validation after_validation before_save before_create after_create before_update after_update
        before_destroy after_destroy after_save after_commit after_rollback after_find after_initialize after_touch
      ].each do |name|
        public_send(name) { events << name }
      end
      around_save :note_around
      after_create_commit { events << :after_create_commit }
      after_update_commit { events << :after_update_commit }
      after_destroy_commit { events << :after_destroy_commit }
      before_save { throw :abort if title == "abort" }
      before_destroy { throw :abort if title == "keep" }
      after_save { raise ActiveRecord::Rollback if title == "roll back" }
      after_save { raise ArgumentError, "refused" if title == "raise" }

      def events = @events ||= []

      def take_events = events.dup.tap { events.clear }

      private

      def note_around
        events << :around_begins
        yield
        events << :around_ends
      end
    end

    class Book < Comparison::LibraryRecord
      belongs_to :author, optional: true
    end

    class Item < Comparison::ShardedRecord
    end
  RUBY

  TABLES = {
    primary: {
      authors: ->(table) {
        table.string(:name, index: {unique: true, name: "#{table.name}_name"})
        table.integer(:age)
        table.integer(:posts_count, default: 0)
        table.bigint(:mentor_id)
        table.text(:settings)
      },
      profiles: ->(table) { table.bigint(:author_id) && table.string(:text) },
      posts: ->(table) {
        table.bigint(:author_id)
        table.string(:title)
        table.integer(:score, default: 0)
        table.integer(:status, default: 0)
      },
      comments: ->(table) { table.string(:subject_type) && table.bigint(:subject_id) && table.string(:text) },
      tags: ->(table) { table.string(:name) },
      posts_tags: ->(table) { table.bigint(:post_id) && table.bigint(:tag_id) },
      groups: ->(table) { table.string(:name) },
      memberships: ->(table) { table.bigint(:author_id) && table.bigint(:group_id) },
      vehicles: ->(table) { table.string(:type) && table.string(:name) && table.boolean(:broken, default: false) },
      accounts: ->(table) {
        table.string(:owner) && table.integer(:balance, default: 0) && table.integer(:lock_version, default: 0)
      },
      orders: ->(table) { table.string(:title) && table.datetime(:updated_at) },
      items: ->(table) { table.string(:name) }
    },
    other: {
      books: ->(table) { table.bigint(:author_id) && table.string(:title) },
      items: ->(table) { table.string(:name) }
    }
  }.freeze

  # A module with the classes of a run, whose tables are new.
  def self.module_of(number)
    ApplicationRecord.with_connection { |connection| create(connection, "r#{number}_", TABLES.fetch(:primary)) }
    LibraryRecord.with_connection { |connection| create(connection, "r#{number}_", TABLES.fetch(:other)) }
    const_set("Run#{number}", Module.new).tap do |run|
      run.define_singleton_method(:table_name_prefix) { "r#{number}_" }
      run.module_eval(MODELS)
    end
  end

  def self.create(connection, prefix, tables)
    tables.each do |name, columns|
      id = (name == :posts_tags) ? false : :primary_key
      connection.create_table("#{prefix}#{name}", force: true, id: id, &columns)
    end
  end
end
