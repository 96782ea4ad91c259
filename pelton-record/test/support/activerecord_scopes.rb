# frozen_string_literal: true

module Comparison
  # The same associated models with several default scopes, and all ways to load and write their associations: calls for both libraries.
  module Scopes
    COLUMNS = "name varchar, hidden integer DEFAULT 0, mark integer DEFAULT 0"
    TABLES = {
      countries: "", firms: "country_id integer, parent_id integer, branches_count integer DEFAULT 0, updated_at datetime(6)",
      branches: "firm_id integer", seats: "firm_id integer", workers: "branch_id integer, seat_id integer", badges: "worker_id integer",
      labels: "", remarks: "subject_id integer, subject_type varchar"
    }.map { |name, columns| "CREATE TABLE #{name} (#{["id integer PRIMARY KEY AUTOINCREMENT NOT NULL", COLUMNS, columns].reject(&:empty?).join(", ")})" } +
      ["CREATE TABLE firms_labels (firm_id integer, label_id integer)"]

    # What is put into each model.
    VARIANTS = {
      "Plain" => "",
      "Hidden" => "default_scope { where(hidden: 0) }",
      "Sorted" => "default_scope { order(mark: :desc, id: :desc) }",
      "Both" => "default_scope { where(hidden: 0) }; default_scope { order(mark: :desc, id: :desc) }",
      "Text" => "default_scope { where(\"\#{table_name}.hidden = 0\") }",
      "Not" => "default_scope { where.not(hidden: 1).where(mark: 0..2) }",
      "Tenant" => "default_scope { where(mark: $mark) }",
      "Chosen" => 'default_scope { select(*(column_names - ["name"])) }',
      "Few" => "default_scope { order(:id).limit(3) }"
    }.freeze

    MODELS = <<~RUBY
      class Country < Base
        has_many :firms
        has_many :branches, through: :firms
      end

      class Firm < Base
        belongs_to :country, optional: true
        belongs_to :marked_country, -> { where(mark: 1) }, class_name: "Country", foreign_key: :country_id, optional: true
        belongs_to :parent, class_name: "Firm", optional: true
        has_many :daughters, class_name: "Firm", foreign_key: :parent_id
        has_many :granddaughters, through: :daughters, source: :daughters
        has_many :branches, dependent: :destroy
        has_many :marked_branches, -> { where(mark: 1) }, class_name: "Branch"
        has_many :marked_too, -> { where(mark: $mark) }, class_name: "Branch"
        has_many :sorted_branches, -> { order(mark: :asc, id: :desc) }, class_name: "Branch", dependent: :nullify
        has_many :own_branches, ->(firm) { where(mark: firm.mark) }, class_name: "Branch"
        has_many :workers, through: :branches
        has_many :marked_workers, -> { where(mark: 1) }, through: :branches, source: :workers
        has_many :workers_of_marked, through: :marked_branches, source: :workers
        has_many :badges, through: :workers
        has_one :seat, dependent: :destroy
        has_one :marked_seat, -> { where(mark: 1) }, class_name: "Seat"
        has_one :boss, through: :seat, source: :worker
        has_and_belongs_to_many :labels
        has_and_belongs_to_many :marked_labels, -> { where(mark: 1) }, class_name: "Label", join_table: :firms_labels, association_foreign_key: :label_id
        has_many :remarks, as: :subject, dependent: :delete_all
        has_many :marked_remarks, -> { where(mark: 1) }, as: :subject, class_name: "Remark"
      end

      class Branch < Base
        belongs_to :firm, counter_cache: true, touch: true, optional: true
        has_one :country, through: :firm
        has_many :workers
      end

      class Seat < Base
        belongs_to :firm, optional: true
        has_one :worker
      end

      class Worker < Base
        belongs_to :branch, optional: true
        belongs_to :seat, optional: true
        has_one :firm, through: :branch
        has_many :badges
      end

      class Badge < Base
        belongs_to :worker, optional: true
      end

      class Label < Base
        has_and_belongs_to_many :firms
      end

      class Remark < Base
        belongs_to :subject, polymorphic: true, optional: true
      end

      def self.rows(model, *columns) = model.unscoped.order(:id).pluck(:id, *columns)
      def self.state = {firms: rows(Firm, :parent_id, :country_id, :branches_count), branches: rows(Branch, :firm_id, :hidden, :mark), workers: rows(Worker, :branch_id, :seat_id),
        seats: rows(Seat, :firm_id), remarks: rows(Remark, :subject_id, :subject_type, :hidden, :mark), labels: rows(Label, :hidden, :mark),
        joins: Firm.unscoped.joins("JOIN firms_labels ON firms_labels.firm_id = firms.id").order("firm_id", "label_id").pluck("firms_labels.firm_id", "firms_labels.label_id")}
    RUBY

    NAMES = %w[Country Firm Branch Seat Worker Badge Label Remark].freeze

    # Rows of every kind: seen and hidden ones behind seen and hidden ones.
    ROWS = begin
      all = Hash.new { |hash, key| hash[key] = [] }
      add = ->(table, **row) { (all[table] << row).size }
      3.times { |i| add.call(:countries, hidden: (i == 1) ? 1 : 0, mark: i % 2) }
      6.times do |i|
        firm = add.call(:firms, hidden: (i == 4) ? 1 : 0, mark: i % 3, country_id: [1, 2, 3, nil, 1, 9][i], parent_id: [nil, 1, 1, 2, 5, nil][i], branches_count: (i == 3) ? 0 : 3)
        next if i == 3
        3.times do |j|
          branch = add.call(:branches, hidden: (j == 1) ? 1 : 0, mark: (i + j) % 3, firm_id: firm)
          2.times { |k| add.call(:workers, hidden: ((j + k) % 3 == 2) ? 1 : 0, mark: (j + k) % 2, branch_id: branch) }
        end
        seat = add.call(:seats, hidden: (i == 2) ? 1 : 0, mark: i % 2, firm_id: firm)
        add.call(:workers, hidden: (i == 1) ? 1 : 0, mark: i % 2, seat_id: seat)
        VARIANTS.each_key { |variant| 2.times { |j| add.call(:remarks, hidden: j, mark: (i + j) % 2, subject_id: firm, subject_type: "%<module>s::#{variant}::Firm") } }
      end
      all[:workers].size.times { |i| add.call(:badges, hidden: (i % 4 == 3) ? 1 : 0, mark: i % 3, worker_id: i + 1) }
      4.times { |i| add.call(:labels, hidden: (i == 1) ? 1 : 0, mark: i % 2) }
      [[1, 1], [1, 2], [2, 2], [2, 3], [3, 4], [5, 1]].each { |firm, label| all[:firms_labels] << {firm_id: firm, label_id: label} }
      quote = ->(value) {
        if value.nil?
          "NULL"
        else
          (value.is_a?(String) ? "'#{value}'" : value)
        end
      }
      all.map { |table, rows| "INSERT INTO #{table} (#{rows.first.keys.join(", ")}) VALUES #{rows.map { |row| "(#{row.values.map(&quote).join(", ")})" }.join(", ")}" }
    end

    ASSOCIATIONS = {
      "Country" => {many: %w[firms branches]},
      "Firm" => {
        many: %w[daughters granddaughters branches marked_branches marked_too sorted_branches own_branches workers marked_workers workers_of_marked badges labels marked_labels remarks marked_remarks],
        one: %w[country marked_country parent seat marked_seat boss]
      },
      "Branch" => {one: %w[firm country], many: %w[workers]}, "Worker" => {one: %w[firm branch]}, "Label" => {many: %w[firms]}, "Remark" => {polymorphic: %w[subject]}
    }.freeze

    # M is the model, A the association.
    READS = {
      many: [
        "M.order(:id).map { |one| one.A.map(&:id).sort }", "M.includes(:A).order(:id).map { |one| one.A.map(&:id).sort }", "M.preload(:A).order(:id).map { |one| one.A.map(&:id).sort }",
        "M.eager_load(:A).order(:id).map { |one| one.A.map(&:id).sort }", "M.order(:id).map { |one| one.A.count }", "M.order(:id).map { |one| one.A.size }",
        "M.order(:id).map { |one| one.A.ids.sort }", "M.order(:id).map { |one| one.A.exists? }", "M.order(:id).map { |one| one.A.pluck(:id).sort }", "M.order(:id).map { |one| one.A.empty? }",
        "M.order(:id).map { |one| one.A.where(mark: 1).ids.sort }", "M.order(:id).map { |one| one.A.order(:id).first&.id }", "M.order(:id).map { |one| one.A.sum(:mark) }",
        "M.order(:id).map { |one| one.A.unscope(:where).count }"
      ],
      one: [
        "M.order(:id).map { |one| one.A&.id }", "M.includes(:A).order(:id).map { |one| one.A&.id }", "M.preload(:A).order(:id).map { |one| one.A&.id }",
        "M.eager_load(:A).order(:id).map { |one| one.A&.id }", "M.order(:id).first.then { |one| one.reload_A&.id }"
      ],
      polymorphic: [
        "M.order(:id).map { |one| one.A&.id }", "M.includes(:A).order(:id).map { |one| one.A&.id }", "M.find(3).A&.id", "M.find(3).reload_A&.id",
        "$mark = 1; a = M.order(:id).map { |one| one.A&.id }; $mark = 2; [a, M.order(:id).map { |one| one.A&.id }]"
      ],
      all: [
        "M.joins(:A).pluck(:id).sort", "M.left_joins(:A).pluck(:id).sort", "M.joins(:A).count", "M.left_joins(:A).distinct.count", "M.where.missing(:A).ids.sort", "M.where.associated(:A).ids.uniq.sort",
        "M.joins(:A).distinct.ids.sort", "M.eager_load(:A).count", "M.eager_load(:A).ids.sort", "$mark = 2; M.joins(:A).count", "M.unscoped { M.joins(:A).count }",
        "$mark = 1; a = M.order(:id).map { |one| Array(one.A).size }; $mark = 2; [a, M.order(:id).map { |one| Array(one.A).size }]",
        "M.unscoped.order(:id).map { |one| Array(one.A).size }"
      ]
    }.freeze

    # Each ends with what the tables have then. F is a firm that has all kinds of rows.
    WRITES = [
      "F.branches.create!(name: 'x')", "F.branches.build.attributes.values_at('hidden', 'mark', 'firm_id')", "F.marked_branches.create!(name: 'x').mark", "F.marked_branches.create!(mark: 2).mark",
      "F.branches << Branch.new(hidden: 1, mark: 2)", "F.branches.delete(F.branches.order(:id).first)", "F.branches.destroy(F.branches.order(:id).first)", "F.branches.clear.size",
      "F.branches.delete_all", "F.branches.destroy_all.size", "F.sorted_branches.clear.size", "F.sorted_branches.delete(F.branches.order(:id).first)", "F.branches = [Branch.unscoped.find(4)]; nil",
      "F.branch_ids = [4, 5]; nil", "F.marked_branches = []; nil", "F.marked_branches.delete_all", "F.marked_branches.update_all(name: 'y')", "F.destroy.destroyed?", "F.delete && 1",
      "F.labels.create!(name: 'x').id", "F.labels << Label.unscoped.find(4)", "F.labels.delete(F.labels.order(:id).first)", "F.labels.clear.size", "F.labels = [Label.unscoped.find(2), Label.unscoped.find(3)]; nil",
      "F.label_ids = [1, 3]; nil", "F.labels.destroy(F.labels.order(:id).first)", "F.marked_labels.create!(name: 'x').mark", "F.marked_labels.clear.size", "F.labels.destroy_all.size",
      "F.remarks.create!(name: 'x').subject_id", "F.remarks.clear.size", "F.marked_remarks.build.mark", "F.marked_remarks.create!.mark", "F.remarks.delete_all", "F.remarks.destroy_all.size",
      "F.create_seat!(name: 'x').firm_id", "F.seat = nil", "F.seat = Seat.unscoped.find(3); nil", "F.build_seat.attributes.values_at('hidden', 'mark')", "F.marked_seat = nil", "F.create_marked_seat!.mark",
      "F.build_marked_seat.mark", "F.create_country!(name: 'x').attributes.values_at('hidden', 'mark')", "F.update!(country: Country.unscoped.find(2)); F.country&.id", "F.build_marked_country.mark",
      "F.workers.destroy(F.workers.order(:id).first)", "F.workers.update_all(name: 'z')", "F.workers.count", "F.daughters.create!.parent_id", "F.daughters.clear.size", "F.daughters.build.hidden",
      "Branch.new.attributes.values_at('hidden', 'mark')", "Branch.create!(firm: F).firm&.id", "Branch.unscoped.new.hidden", "Branch.unscoped.find(2).firm&.id", "Branch.unscoped.find(2).destroy.destroyed?",
      "Branch.unscoped.find(2).update(name: 'n')", "Branch.unscoped.find(2).reload.id", "Branch.find(2).id", "Branch.find_by(id: 2)&.id", "Branch.exists?(2)", "Branch.unscoped.find(2).update_columns(name: 'n')",
      "Branch.unscoped.find(2).touch", "Branch.unscoped.find(2).lock!.id", "Branch.update_all(name: 'q')", "Branch.delete_all", "Branch.count", "Branch.find([1, 2]).map(&:id)", "Branch.unscoped { Branch.count }",
      "Branch.unscoped { F.branches.count }", "Branch.unscoped { F.branches.map(&:id).sort }", "Branch.where(mark: 1).scoping { F.branches.map(&:id).sort }", "Branch.find_or_create_by(name: 'new').attributes.values_at('hidden', 'mark')",
      "Firm.joins(:branches).merge(Branch.where(mark: 1)).ids.sort", "Firm.joins(branches: :workers).pluck(:id).sort", "Firm.joins(:branches, :seat).pluck(:id).sort", "Firm.joins(:branches).where(branches: {mark: 1}).ids.sort",
      "Firm.includes(:branches).where(branches: {mark: 1}).order(:id).map { |one| one.branches.map(&:id).sort }", "Firm.includes(branches: {workers: :badges}).order(:id).map { |one| one.branches.map { |b| b.workers.map { |w| w.badges.map(&:id).sort } } }",
      "Firm.eager_load(branches: :workers).order(:id).map { |one| one.branches.flat_map { |b| b.workers.map(&:id) }.sort }", "Firm.where(country: Country.unscoped.find(2)).ids.sort", "Firm.where(branches: Branch.where(mark: 1)).ids.sort",
      "Country.joins(firms: :branches).pluck(:id).sort", "Country.where(firms: {mark: 1}).joins(:firms).ids.sort", "Worker.joins(branch: :firm).pluck(:id).sort", "Firm.left_joins(:branches).group(:id).count('branches.id')",
      "Firm.order(:id).map(&:id)", "Firm.all.map(&:id)", "Firm.first.id", "Firm.last.id", "Firm.pluck(:id)", "Firm.limit(2).ids", "F.branches.map(&:id)", "F.sorted_branches.map(&:id)", "F.branches.first.id", "F.branches.last.id",
      "Firm.includes(:branches).find(1).branches.map(&:id)", "Firm.includes(:sorted_branches).find(1).sorted_branches.map(&:id)", "F.labels.map(&:id)"
    ].freeze

    # @return [Array<String>] the calls of one variant
    def self.calls(variant)
      reads = ASSOCIATIONS.flat_map do |model, kinds|
        kinds.flat_map { |kind, names| names.product(READS.fetch(kind) + ((kind == :polymorphic) ? [] : READS.fetch(:all))).map { |name, call| call.gsub(/\bM\b/, "#{variant}::#{model}").gsub(/(?<![a-zA-Z])A\b/, name) } }
      end
      models = /(?<![:\w])(#{NAMES.join("|")})(?=\.)/o
      firm = "#{variant}::Firm.unscoped.find(1)"
      writes = WRITES.map { |call| "#{"__firm = #{firm}; " if call.include?("F.")}[(#{call.gsub(models) { "#{variant}::#{$1}" }.gsub(/(?<!\w)F\b/, "__firm")}), #{variant}.state]" }
      (reads + writes).map { |call| "$mark = 0; #{call}" }
    end
  end
end
