# frozen_string_literal: true

require "uri"

class User < Sequel::Model
  # Characters of a password. A sentence is welcome; longer text only keeps the server busy.
  PASSWORD_SIZE = 12..256

  # Keeps it out of `render json: user`.
  plugin :json_serializer, except: :password_digest

  plugin :instance_filters # of change_password

  plugin :enum
  enum :role, {member: 0, admin: 1, bot: 2}

  one_to_many :sign_ins
  one_to_many :memberships
  many_to_many :rooms, join_table: :memberships
  add_association_dependencies sign_ins: :delete, memberships: :delete

  # Attributes that forms may set.
  set_allowed_columns :name, :email, :password

  attr_reader :password

  class << self
    # Some databases find "ann" by "ÄNN", too. That is another spelling, which limits would count separately.
    #
    # @return [User, nil] the user with this address
    def with_email(email)
      email = normalize(email)
      user = first(email: email)
      user if user && normalize(user.email) == email
    end

    # @return [User, nil] the user, if the password is right. Takes as long for an unknown address
    def authenticate(email, password)
      user = with_email(email)
      user if Pelton::Web::Password.right?(password, user&.password_digest) && user.active?
    end

    # @return [String] "ann.smith" for Ann Smith, or with a number if others have that
    def free_handle(name)
      base = name.unicode_normalize(:nfkd).downcase.scan(/[a-z0-9]+/).join(".")[0, 50]
      base = "user" if base.empty?
      taken = where(Sequel.like(:handle, "#{dataset.escape_like(base)}%")).select_map(:handle)
      [base, *(2..).lazy.map { |number| "#{base}.#{number}" }.first(taken.size + 1)].find do |handle|
        !taken.include?(handle)
      end
    end

    def normalize(email) = email.to_s.scrub("").strip.downcase

    # @return [String] equal for names that look the same: case, width and invisible characters make no difference
    def name_key(name) = name.unicode_normalize(:nfkc).downcase(:fold).gsub(/\p{Cf}/, "").squeeze(" ").strip
  end

  def email=(text)
    super(User.normalize(text))
  end

  def name=(text)
    super(text.to_s.scrub.gsub(/[[:space:]]+/, " ").strip)
    self.name_key = User.name_key(name)
  end

  # Creates the digest here, in a thread, rather than while saving, when a transaction is open.
  def password=(text)
    @password = text.to_s
    self.password_digest = Pelton::Web::Password.digest(@password) if PASSWORD_SIZE.cover?(@password.size)
  end

  def active? = deactivated_at.nil?

  # Signs the user out everywhere, or lets the user in again. Open pages lose their connection, in all processes.
  def active=(active)
    self.deactivated_at = active ? nil : Time.now
    save_changes
    SignIn.end_all(id) unless active
  end

  # @return [String] up to two letters, for a user without a picture
  def initials = name.split.values_at(0, -1).uniq.map { |word| word[0] }.join.upcase

  # Sets another password and signs out all devices, unless another request has changed the password since this user
  # was loaded.
  #
  # @return [Boolean] whether it did; otherwise {#errors} says why not
  def change_password(text)
    known = password_digest
    self.password = text
    return false unless valid?
    db.transaction do
      instance_filter(password_digest: known)
      save(changed: true, validate: false)
    end
    SignIn.end_all(id)
    true
  rescue Sequel::NoExistingObject
    errors.add(:password, "was changed meanwhile")
    false
  end

  # Another request may take the name, the address or the handle just now: the second attempt finds out which.
  #
  # @return [Boolean] whether it is saved; otherwise {#errors} says why not
  def save_or_explain
    attempts ||= 0
    db.transaction(savepoint: true) { !!save(changed: true, raise_on_failure: false) }
  rescue Sequel::UniqueConstraintViolation
    self.handle = nil if new?
    ((attempts += 1) < 3) ? retry : raise
  end

  # @return [Boolean] whether the password is right
  def password?(text) = Pelton::Web::Password.right?(text, password_digest)

  def before_validation
    self.handle ||= User.free_handle(name) unless name.to_s.strip.empty?
    super
  end

  def validate
    super
    validates_presence :email
    validate_name
    validates_max_length 254, :email, allow_nil: true
    validates_format URI::MailTo::EMAIL_REGEXP, :email, allow_blank: true
    validates_unique :email
    validates_length_range PASSWORD_SIZE, :password if new? || password
  end

  private

  def validate_name
    return errors.add(:name, "is not present") if name_key.to_s.empty?
    validates_max_length 60, :name
    unless User.where(name_key: name_key).exclude(id: id).empty?
      errors.add(:name, "is taken: add something, as in \"Ann Smith (Sales)\"")
    end
  end

  def inspect_values = values.except(:password_digest).inspect
end
